import AppStore
import AppStoreClient
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import Logging
import MetricsTestKit
import Notifications
import Platform
import SignedData
import Store
import TestSupport
import Testing

@testable import Reconciliation
@testable import Sandbox

@Suite struct NewClientTests {
  /// Only this test records a backlog of the app.
  private func backlog() throws -> Double? {
    let labels = [("app", "newcomer"), ("environment", "Sandbox")]
    return try TestMetrics.ofProcess.expectGauge("entitled_status_poll_backlog", labels).lastValue
  }

  @Test("The first client of an app starts its reconciliation, and its loss pauses it")
  func firstClient() async throws {
    let world = try await LivedWorld(seed: 7, customers: 1, days: 1)
    defer { try? FileManager.default.removeItem(at: world.folder) }
    let clock = world.simulator.clock
    let app = AppDefinition(
      id: "newcomer", identity: LivedWorld.app.identity, environments: [.sandbox],
      products: [
        ProductDefinition(productID: "monthly", type: .autoRenewableSubscription, entitlements: ["pro"])
      ])
    let appStore = try SimulatedAppStore(world.simulator, app: app, folder: world.folder)
    let clients = AppStoreClients()
    let lookup = PurchaseLookup(clients: clients, ledger: appStore.ledger)
    let supervisor = WorkerSupervisor(logger: Logger(label: "test"))
    let reconciler = Reconciler(
      store: appStore.store, ledger: appStore.ledger,
      inbox: NotificationInbox(
        ledger: appStore.ledger, lookup: lookup, catalog: appStore.catalog, secrets: SharedSecrets([:]),
        recordArrival: { _, _ in }),
      lookup: lookup, catalog: appStore.catalog, cadence: DeliveryCadence(), policies: [:],
      clocks: ServiceClocks(ServiceClock(now: { clock.now() })), supervisor: supervisor)
    let running = Task { await supervisor.run(reconciler) }
    defer { running.cancel() }
    let order = Repair(
      appID: "newcomer", environment: .sandbox, reason: .manual, from: LivedWorld.start, to: clock.now(),
      startedAt: clock.now())
    let noKey = ReconciliationError.lookup(.noKey(appID: "newcomer", environment: .sandbox))
    await #expect(throws: noKey) { try await reconciler.repair(order, timeout: nil) }

    clients["newcomer", .sandbox] = try appStore.lookup.client(for: "newcomer", in: .sandbox)
    reconciler.adoptClients(policies: [:])
    let repair = try await reconciler.repair(order, timeout: nil).0
    #expect(repair.finishedAt != nil && repair.error.isEmpty)
    #expect(!appStore.exchange.paths.isEmpty)

    clients["newcomer", .sandbox] = nil
    await #expect(throws: noKey) { try await reconciler.repair(order, timeout: nil) }

    // A replica that no longer leads has no backlog; the next leader exports it.
    let target = AppEnvironment(appID: "newcomer", environment: .sandbox)
    _ = TestMetrics.ofProcess
    ReconciliationMetrics(target).recordBacklog(7)
    #expect(try backlog() == 7)
    running.cancel()
    await running.value
    #expect(try backlog() == 0)
    await appStore.store.close()
  }
}
