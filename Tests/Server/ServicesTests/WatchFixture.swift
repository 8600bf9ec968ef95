import AppStore
import Entitlements
import HTTP
import Ledger
import RPC
import Store
import Synchronization
import Wire

@testable import Services

/// The store, the broadcaster and the streams that the tests of `Watch` share.
enum WatchFixture {
  static let instant = Instant(millisecondsSince1970: 1_800_000_000_000)

  static let ocean = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"])])

  /// Runs the method until it ends, and returns its status.
  static func watch(
    _ broadcaster: EventBroadcaster, _ store: any EntitlementStore, _ caller: WatchCaller
  ) async -> Status? {
    let stream = EventStream(
      broadcaster: broadcaster, eventLog: EventLogReader(store: store),
      catalog: CurrentCatalog(Catalog([ocean])), erasedCustomerID: { _ in nil },
      positionTokens: PositionTokens(store.feed),
      barrier: PositionBarrier(feed: store.feed), clocks: ServiceClocks(ServiceClock(now: { instant })))
    let method = Method.serverStreaming("/t.T/Watch") {
      (request: WatchRequest, responses: ResponseWriter<WatchResponse>, call) async throws(Status) in
      try await stream.watch(request, WatchWriter(responses) { $0 }, call, showsOtherCustomer: false)
    }
    guard case .streaming(let handler) = method.handler else { return nil }
    do throws(Status) {
      try await handler(caller, CallContext(headers: HeaderFields(), timeout: nil))
      return nil
    } catch {
      return error
    }
  }
}

/// A watcher that cancels after a number of messages, and runs `duringFirstMessage` while the first one is being sent.
final class WatchCaller: MessageStream {
  private let request: WatchRequest
  private let maxMessages: Int
  private let duringFirstMessage: @Sendable () async -> Void
  private let received = Mutex<[WatchResponse]>([])
  private let hasRequested = Atomic(false)

  init(
    _ request: WatchRequest, maxMessages: Int = .max,
    duringFirstMessage: @escaping @Sendable () async -> Void = {}
  ) {
    var request = request
    request.app = WatchFixture.ocean.id
    self.request = request
    self.maxMessages = maxMessages
    self.duringFirstMessage = duringFirstMessage
  }

  /// The sequences of the received events.
  var sequences: [Int64] { received.withLock { $0.map(\.sequence) } }
  var positions: [String] { received.withLock { $0.map(\.position) } }

  func next() async throws(Status) -> ReceivedMessage? {
    hasRequested.exchange(true, ordering: .relaxed) ? nil : ReceivedMessage(request.encodedBytes())
  }

  func attach(initial: Metadata, trailing: Metadata) async {}

  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status) {
    guard let response = try? WatchResponse.decode(message) else { throw Status(.dataLoss) }
    let count = received.withLock { received in
      received.append(response)
      return received.count
    }
    if count == 1 { await duringFirstMessage() }
    if count == maxMessages { throw Status(StatusCode.cancelled) }
  }
}

extension EventBroadcaster {
  /// Waits until the event with this sequence is published.
  func untilPublished(_ sequence: Int64) async {
    while published(of: WatchFixture.ocean.id).map({ $0 < sequence }) ?? false { await Task.yield() }
  }
}

extension EntitlementStore {
  /// Commits `count` events of a customer.
  func append(_ count: Int, of customerID: String = "ana") async throws {
    let ocean = WatchFixture.ocean
    let instant = WatchFixture.instant
    let answer = evaluate(CustomerFacts(), entitlement: "pro", in: ocean, at: instant)
    let change = EntitlementChange(
      entitlement: "pro", kind: .started, effectiveAt: instant, before: answer, after: answer)
    let event = NewEvent(
      customer: CustomerKey(appID: ocean.id, environment: .sandbox, customerID: customerID), change: change,
      recordedAt: instant, evidenceID: nil, actor: "")
    _ = try await write { store throws(StoreError) in
      for _ in 0..<count { _ = try store.append(event) }
    }
  }
}
