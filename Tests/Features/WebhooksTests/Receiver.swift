import AppStore
import AppStoreClient
import Entitlements
import Foundation
import Logging
import Platform
import SQLiteStore
import Store
import Synchronization
import TestSupport

@testable import Webhooks

/// A receiver in memory: answers as a test wants it to, and keeps what it was sent.
final class Receiver: HTTPExchange {
  private struct State {
    var sent: [OutgoingRequest] = []
    var pause: @Sendable (OutgoingRequest) async -> Void = { _ in }
    var answer: @Sendable (OutgoingRequest) -> Result<IncomingResponse, HTTPExchangeError>
  }

  private let state: Mutex<State>

  /// A receiver that takes everything.
  init() { state = Mutex(State(answer: { _ in .success(.status(200)) })) }

  func answers(_ answer: @escaping @Sendable (OutgoingRequest) -> Result<IncomingResponse, HTTPExchangeError>)
  {
    state.withLock { $0.answer = answer }
  }

  /// Runs `body` between each message and its answer.
  func pauses(_ body: @escaping @Sendable (OutgoingRequest) async -> Void) {
    state.withLock { $0.pause = body }
  }

  /// The number of messages since the last ``takeRequests()``.
  var count: Int { state.withLock { $0.sent.count } }

  /// The messages since the last call.
  func takeRequests() -> [OutgoingRequest] {
    state.withLock { state in
      defer { state.sent = [] }
      return state.sent
    }
  }

  func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    await state.withLock { $0.pause }(request)
    return try state.withLock { state in
      state.sent.append(request)
      return state.answer(request)
    }.get()
  }
}

extension IncomingResponse {
  static func status(_ status: Int, _ headers: [(name: String, value: String)] = []) -> IncomingResponse {
    IncomingResponse(status: status, headers: headers, body: [])
  }
}

extension OutgoingRequest {
  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The sequence of the event.
  var sequence: Int64 {
    let parts = (header("webhook-id") ?? "").split(separator: "_")
    return parts.count == 4 ? Int64(parts[2]) ?? 0 : 0
  }
}

/// A store with events and one worker that sends them.
struct Stage {
  let store: SQLiteEntitlementStore
  let receiver = Receiver()
  let clock = TestClock(Instant(millisecondsSince1970: 1_000_000))
  let settings: WebhookSettings
  let worker: WebhookWorker
  let dispatcher: WebhookDispatcher

  var admin: DeliveryAdmin { DeliveryAdmin(dispatcher, store: store, now: { [clock] in clock.now }) }

  /// Resends messages without an idempotency key; `nil` if the response is a stored one.
  func resend(_ selection: DeliveryAdmin.Selection) async throws -> DeliveryAdmin.ResendResult? {
    guard case .resent(let result) = try await admin.resend(selection, to: settings) else { return nil }
    return result
  }

  private init(_ store: SQLiteEntitlementStore, _ settings: WebhookSettings) {
    self.store = store
    self.settings = settings
    let (clock, receiver) = (clock, receiver)
    dispatcher = WebhookDispatcher(
      [settings], store: store, exchange: receiver,
      supervisor: WorkerSupervisor(logger: Logger(label: "test")), now: { clock.now },
      encode: { .string("\($0.sequence) \($0.event.customer.customerID)") })
    worker = WebhookWorker(
      settings, source: dispatcher.source(of: settings), exchange: receiver, store: store, now: { clock.now })
  }

  static func run(
    _ name: String = "billing", kinds: Set<EntitlementChange.Kind> = [], delays: [Int64] = [10, 100],
    concurrency: Int = 1,
    _ body: (Stage) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "webhooks-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    let settings = WebhookSettings(
      key: WebhookKey(appID: "ocean", kind: .events, name: name), url: "https://example.com/?key=secret",
      secrets: [WebhookSecret(key: [UInt8](repeating: 7, count: 24))], kinds: kinds,
      schedule: RetrySchedule(delays: delays), concurrency: concurrency)
    let stage = Stage(store, settings)
    try await stage.dispatcher.begin()
    try await body(stage)
    await store.close()
  }

  /// Commits an event of each customer, in this order.
  func append(_ customers: String..., kind: EntitlementChange.Kind = .started) async throws {
    try await append(customers, kind: kind)
  }

  func append(_ customers: [String], kind: EntitlementChange.Kind = .started) async throws {
    let instant = clock.now
    try await store.write { store throws(StoreError) in
      for customer in customers { _ = try store.append(event(of: customer, kind, at: instant)) }
    }
  }

  /// Lets the worker work, and says which events the receiver was sent meanwhile.
  func runWorker() async throws -> [Int64] {
    _ = try await worker.run()
    return receiver.takeRequests().map(\.sequence)
  }

  /// Another worker, as after a restart; its store may be a wrapper of this one.
  func restarted(over wrapper: (any EntitlementStore)? = nil) -> WebhookWorker {
    WebhookWorker(
      settings, source: dispatcher.source(of: settings), exchange: receiver, store: wrapper ?? store,
      now: { [clock] in clock.now })
  }

  /// Waits until this many messages were answered since the last ``Receiver/takeRequests()``.
  func awaitRequests(_ count: Int) async throws {
    while receiver.count < count { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// Waits until this many deliveries are stored as pending.
  func awaitPending(_ count: Int64) async throws {
    while try await status().counts.pending < count { try await Task.sleep(for: .milliseconds(5)) }
  }

  func status() async throws -> DeliveryAdmin.WebhookStatus {
    try await store.snapshot { [admin, settings] in try admin.status(of: settings, in: $0) }
  }
}

private func event(of customer: String, _ kind: EntitlementChange.Kind, at instant: Instant) -> NewEvent {
  let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [])
  let status = evaluate(CustomerFacts(), entitlement: "pro", in: app, at: instant)
  return NewEvent(
    customer: CustomerKey(appID: "ocean", environment: .sandbox, customerID: customer),
    change: EntitlementChange(
      entitlement: "pro", kind: kind, effectiveAt: instant, before: status, after: status),
    recordedAt: instant, evidenceID: nil, actor: "")
}
