import AppStore
import Entitlements
import Foundation
import HTTP
import Ledger
import RPC
import SQLiteStore
import Store
import Synchronization
import Testing
import Wire

@testable import Services

@Suite("Watching events")
struct WatchTests {
  @Test("A watcher that falls behind receives the sequence to resume after and misses no event")
  func fellBehind() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, capacity: 2, now: { instant })
      let running = Task { try? await broadcaster.run() }
      defer { running.cancel() }
      // Events are buffered only while there is another watcher.
      let other = try broadcaster.firstWatcher()
      try await store.append(1)
      await broadcaster.untilPublished(1)

      // While the first message is being sent, more events are committed than the buffer holds.
      let slow = Caller(.with { $0.start = .fromBeginning(true) }) {
        try? await store.append(3)
        await broadcaster.untilPublished(4)
      }
      let end = await watch(broadcaster, store, slow)
      #expect(slow.sequences == [1])
      #expect(end?.code == .aborted)
      #expect(end?.errorInfo?.reason == "WATCHER_FELL_BEHIND")
      #expect(end?.errorInfo?.metadata.map { "\($0.key) \($0.value)" } == ["resumeAfterSequence 1"])

      let resumed = Caller(.with { $0.start = .afterSequence(1) }, maxMessages: 3)
      _ = await watch(broadcaster, store, resumed)
      #expect(resumed.sequences == [2, 3, 4])
      broadcaster.unsubscribe(other)
    }
  }

  @Test("Watch sends stored events first and then new ones without a gap")
  func resumption() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let running = Task { try? await broadcaster.run() }
      defer { running.cancel() }
      broadcaster.unsubscribe(try broadcaster.firstWatcher())
      try await store.append(3)
      await broadcaster.untilPublished(3)

      let caller = Caller(.with { $0.start = .fromBeginning(true) }, maxMessages: 6) {
        try? await store.append(3)
        await broadcaster.untilPublished(6)
      }
      _ = await watch(broadcaster, store, caller)
      #expect(caller.sequences == [1, 2, 3, 4, 5, 6])
    }
  }

  @Test(
    "Each Watch message has a position after which a stream resumes; a later one than the store's is rejected"
  )
  func positions() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let running = Task { try? await broadcaster.run() }
      defer { running.cancel() }
      try await store.append(3)
      let first = Caller(.with { $0.start = .fromBeginning(true) }, maxMessages: 2)
      _ = await watch(broadcaster, store, first)
      let position = try #require(first.positions.last)
      let second = Caller(.with { $0.start = .afterPosition(position) }, maxMessages: 1)
      _ = await watch(broadcaster, store, second)
      #expect(second.sequences == [3])

      let future = PositionTokens(store.feed).token(StorePosition(of: ocean.id, sequence: 4, mark: 0))
      let end = await watch(broadcaster, store, Caller(.with { $0.start = .afterPosition(future) }))
      #expect(end?.code == .outOfRange && end?.errorInfo?.reason == "UNKNOWN_POSITION")
    }
  }

  @Test("Watch before the broadcaster runs is not ended, and misses no event")
  func watchBeforeFirstRead() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let early = try broadcaster.firstWatcher()
      // Committed while nothing signals commits to the broadcaster.
      try await store.append(1)
      let running = Task { try? await broadcaster.run() }
      defer { running.cancel() }
      guard case .events(let events, _) = await early.next({ instant }) else {
        Issue.record("the subscription ended")
        return
      }
      #expect(events.map(\.sequence) == [1])
      broadcaster.unsubscribe(early)
    }
  }

  @Test("Watch at a closed broadcaster ends with SHUTTING_DOWN")
  func closed() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      broadcaster.close()
      let end = await watch(broadcaster, store, Caller(.with { $0.start = .fromBeginning(true) }))
      #expect(end?.code == .unavailable)
      #expect(end?.errorInfo?.reason == "SHUTTING_DOWN")
    }
  }

  @Test(
    "A heartbeat follows an interval without events, also after the clock was set back",
    .timeLimit(.minutes(10)))
  func clockSetBack() async {
    let filter = EventFilter(appID: ocean.id, environment: .sandbox, customerIDs: [], entitlements: [])
    let subscription = WatchSubscription(
      filter, after: 7, mark: nil, heartbeat: 1_000, capacity: 2, now: instant)
    let hasEnded = Atomic(false)
    let delivery = Task {
      defer { hasEnded.store(true, ordering: .releasing) }
      guard case .heartbeat(let sequence, _) = await subscription.next({ instant }) else { return Int64(-1) }
      return sequence
    }
    let earlier = instant.advanced(byMilliseconds: -86_400_000)
    subscription.requestHeartbeat(at: earlier)
    while !hasEnded.load(ordering: .acquiring), !Task.isCancelled {
      subscription.requestHeartbeat(at: earlier.advanced(byMilliseconds: 1_000))
      await Task.yield()
    }
    subscription.close()
    #expect(await delivery.value == 7)
  }

  /// Runs the method until it ends, and returns its status.
  private func watch(_ broadcaster: EventBroadcaster, _ store: any EntitlementStore, _ caller: Caller) async
    -> Status?
  {
    let stream = EventStream(
      broadcaster: broadcaster, eventLog: EventLogReader(store: store),
      catalog: CurrentCatalog(Catalog([ocean])), positionTokens: PositionTokens(store.feed),
      gate: PositionGate(feed: store.feed), clocks: ServiceClocks(ServiceClock(now: { instant })))
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

  private func withStore(_ body: (SQLiteEntitlementStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "watch-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    try await body(store)
    await store.close()
  }
}

/// A watcher that cancels after a number of messages, and runs `duringFirstMessage` while the first one is being sent.
private final class Caller: MessageStream {
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
    request.app = ocean.id
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
  /// Subscribes to the first events of the app.
  fileprivate func firstWatcher() throws -> WatchSubscription {
    let filter = EventFilter(appID: ocean.id, environment: .sandbox, customerIDs: [], entitlements: [])
    guard
      case .watching(let watcher) = subscribe(
        filter, after: 0, isLatest: true, mark: nil, heartbeat: 1_000)
    else {
      throw StoreError.closed
    }
    return watcher
  }

  /// Waits until the event with this sequence is published.
  fileprivate func untilPublished(_ sequence: Int64) async {
    while published(of: ocean.id).map({ $0 < sequence }) ?? false { await Task.yield() }
  }
}

extension SQLiteEntitlementStore {
  /// Commits `count` events.
  fileprivate func append(_ count: Int) async throws {
    let answer = evaluate(CustomerFacts(), entitlement: "pro", in: ocean, at: instant)
    let change = EntitlementChange(
      entitlement: "pro", kind: .started, effectiveAt: instant, before: answer, after: answer)
    let event = NewEvent(
      customer: CustomerKey(appID: ocean.id, environment: .sandbox, customerID: "ana"), change: change,
      recordedAt: instant, evidenceID: nil, actor: "")
    _ = try await write { store throws(StoreError) in
      for _ in 0..<count { _ = try store.append(event) }
    }
  }
}

extension Status {
  var errorInfo: GoogleRPC.ErrorInfo? {
    guard let status = try? GoogleRPC.Status.decode(details), let any = status.details.first else {
      return nil
    }
    return try? GoogleRPC.ErrorInfo.decode(any.value)
  }
}

private let instant = Instant(millisecondsSince1970: 1_800_000_000_000)

private let ocean = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
  products: [ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"])])
