import AppStore
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import Logging
import Platform
import SQLiteStore
import SignedData
import Store
import TestSupport

@testable import Notifications
@testable import Reconciliation
@testable import Sandbox

/// A service that gets the notifications of a lived world: a store, a ledger, an inbox, and a simulated App Store.
struct Recipient {
  private static let target = AppEnvironment(appID: "demo", environment: .sandbox)

  private let appStore: SimulatedAppStore
  let store: SQLiteEntitlementStore
  let ledger: EvidenceLedger
  let inbox: NotificationInbox
  let lookup: PurchaseLookup
  private let reconciler: Reconciler
  private let supervisor = WorkerSupervisor(logger: Logger(label: "test"))
  private let polling: StatusPolling
  private let app: AppDefinition
  private let clock: SandboxClock

  init(_ world: LivedWorld) throws {
    let clock = world.simulator.clock
    let app = AppDefinition(
      id: "demo", identity: LivedWorld.app.identity, environments: [.sandbox],
      products: ["monthly", "gold", "weekly"].map { id in
        ProductDefinition(
          productID: id, type: .autoRenewableSubscription,
          subscriptionGroup: id == "weekly" ? "news" : "pro", level: id == "gold" ? 1 : 2,
          entitlements: [id == "weekly" ? "news" : "pro"])
      })
    self.app = app
    self.clock = clock
    appStore = try SimulatedAppStore(world.simulator, app: app, folder: world.folder)
    (store, ledger, lookup) = (appStore.store, appStore.ledger, appStore.lookup)
    let catalog = appStore.catalog
    let cadence = DeliveryCadence()
    inbox = NotificationInbox(
      ledger: ledger, lookup: lookup, catalog: catalog,
      secrets: SharedSecrets(["demo": SharedSecret(LivedWorld.secret)].compactMapValues(\.self)),
      recordArrival: { cadence.recordArrival($0, at: $1) })
    reconciler = Reconciler(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog, cadence: cadence,
      policies: ["demo": ReconciliationPolicy(pollsStatuses: false, repairsGaps: false)],
      clocks: ServiceClocks(ServiceClock(now: { clock.now() })), supervisor: supervisor)
    polling = StatusPolling(
      store: store, ledger: ledger, lookup: lookup, app: app, target: Self.target,
      metrics: ReconciliationMetrics(Self.target), now: { clock.now() })
  }

  // MARK: Input

  /// Submits purchases as the app does.
  func submit(_ submissions: [(customer: String, transaction: String)]) async throws {
    for submission in submissions {
      _ = try await ledger.submit(
        Submission(
          appID: "demo", customerID: submission.customer, signedTransaction: submission.transaction))
    }
  }

  /// Ingests notifications, several concurrently.
  func deliver(_ bodies: [[UInt8]], concurrency width: Int = 16) async throws {
    for start in stride(from: 0, to: bodies.count, by: width) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for body in bodies[start..<min(start + width, bodies.count)] {
          group.addTask {
            _ = try await inbox.ingest(
              IncomingNotification(
                appID: "demo", body: body, source: .notification, receivedAt: clock.now()))
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// Runs all status polls that are due.
  func poll() async throws { try await polling.run() }

  /// Repairs the whole time span.
  func repair() async throws -> Repair {
    let running = Task { [supervisor, reconciler] in await supervisor.run(reconciler) }
    defer { running.cancel() }
    return try await reconciler.repair(
      Repair(
        appID: "demo", environment: .sandbox, reason: .manual, from: LivedWorld.start, to: clock.now(),
        startedAt: clock.now()), timeout: nil
    ).0
  }

  /// Looks up every purchase of the world.
  func lookUpAll(_ world: LivedWorld) async throws {
    for line in await world.simulator.world.lines.keys.sorted() {
      _ = try await lookup.fetchAll(
        PurchaseLookup.Request(appID: "demo", environment: .sandbox, transactionID: String(line)))
    }
  }

  // MARK: Stored state

  /// The present answers of all customers, without what depends on a grace period that has ended, because Apple's
  /// responses do not report it: the end of access that is over, and whether a refund after the paid period ended
  /// access.
  func state() async throws -> [String] {
    try await answers { facts, at in
      let now = at(clock.now())
      let deciding = facts.transactions.first { $0.transactionID == now.deciding?.transactionID }
      return "\(reason(now, deciding)) \(now.isEntitled ? now.until?.description ?? "" : "")"
        + " \(deciding?.transactionID ?? "") \(now.willRenew.map { $0 ? "on" : "off" } ?? "")"
    }
  }

  private func reason(_ status: EntitlementStatus, _ deciding: TransactionFact?) -> String {
    guard let revoked = deciding?.revocationDate, let expires = deciding?.expiresDate, revoked >= expires
    else { return status.reason.rawValue }
    return "ENDED"
  }

  /// The answers about the past of all customers.
  func past() async throws -> [String] {
    try await answers { _, at in
      let others = stride(from: Int64(0), through: 200, by: 5).map { day in
        let then = at(LivedWorld.start.advanced(byMilliseconds: day * 86_400_000))
        return then.isEntitled ? then.deciding?.productID.prefix(1) ?? "?" : "-"
      }
      return "\(at(clock.now()).until?.description ?? "") \(others.joined())"
    }
  }

  private func answers(
    _ text: (CustomerFacts, _ at: (Instant) -> EntitlementStatus) -> String
  ) async throws -> [String] {
    let records = try await store.snapshot {
      try $0.customers(of: "demo", in: .sandbox, after: nil, limit: 10_000)
    }
    return records.flatMap { record in
      app.entitlements.map { entitlement in
        let at = { evaluate(record.facts, entitlement: entitlement, in: app, at: $0) }
        return "\(record.key.customerID) \(entitlement) \(text(record.facts, at))"
      }
    }.sorted()
  }
}
