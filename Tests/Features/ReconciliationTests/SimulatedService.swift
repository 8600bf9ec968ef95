import AppStore
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import Logging
import Notifications
import Platform
import SQLiteStore
import SignedData
import Store

@testable import Reconciliation
@testable import Sandbox

// A service of the app `demo` with its reconciliation, over the simulated App Store.
extension SimulatedAppStore {
  static let target = AppEnvironment(appID: "demo", environment: .sandbox)

  /// Runs `body` with an empty store of the app.
  static func run(_ body: (SimulatedAppStore) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "failing-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let simulator = try AppStoreSimulator(apps: [LivedWorld.app], storage: .memory, now: { LivedWorld.start })
    let service = try SimulatedAppStore(simulator, app: LivedWorld.definition, folder: folder)
    try await body(service)
    await service.store.close()
  }

  /// Buys and submits a subscription; returns its line.
  func buy(_ customer: String) async throws -> LineKey {
    let bought = try await simulator.purchase(
      PurchaseOrder(app: "demo", productId: "monthly", account: customer))
    _ = try await ledger.submit(
      Submission(appID: "demo", customerID: customer, signedTransaction: bought.signedTransactionInfo))
    return LineKey(appID: "demo", environment: .sandbox, lineID: bought.originalTransactionId)
  }

  func advance(byMinutes minutes: Int64) async throws {
    try await simulator.advanceClock(to: simulator.clock.now().advanced(byMilliseconds: minutes * 60_000))
  }

  /// A repair that looks up all purchases.
  var fullPoll: Repair { repair(.fullPoll, from: simulator.clock.now()) }

  /// A repair that reads the history.
  var manualRepair: Repair { repair(.manual, from: LivedWorld.start) }

  private func repair(_ reason: Repair.Reason, from start: Instant) -> Repair {
    let now = simulator.clock.now()
    return Repair(appID: "demo", environment: .sandbox, reason: reason, from: start, to: now, startedAt: now)
  }

  /// The repair as it is stored.
  func stored(_ repair: Repair) async throws -> Repair? {
    try await store.snapshot { try $0.repair(repair.id, of: "demo") }
  }

  var inbox: NotificationInbox {
    NotificationInbox(
      ledger: ledger, lookup: lookup, catalog: catalog, secrets: SharedSecrets([:]),
      recordArrival: { _, _ in })
  }

  var clocks: ServiceClocks {
    let clock = simulator.clock
    return ServiceClocks(ServiceClock(now: { clock.now() }))
  }

  /// Runs `body` with a reconciler of ordered repairs only.
  func withReconciler(_ body: (Reconciler) async throws -> Void) async throws {
    let supervisor = WorkerSupervisor(logger: Logger(label: "test"))
    let reconciler = Reconciler(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog,
      cadence: DeliveryCadence(),
      policies: ["demo": ReconciliationPolicy(pollsStatuses: false, repairsGaps: false)],
      clocks: clocks, supervisor: supervisor)
    let running = Task { await supervisor.run(reconciler) }
    defer { running.cancel() }
    try await body(reconciler)
    running.cancel()
    await running.value
  }
}
