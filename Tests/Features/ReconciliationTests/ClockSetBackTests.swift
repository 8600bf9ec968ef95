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
import TestSupport
import Testing

@testable import Reconciliation
@testable import Sandbox

@Suite struct ClockSetBackTests {
  @Test("After a clock that was ahead is set back, failed deliveries are searched at once")
  func searches() async throws {
    let world = try await LivedWorld(seed: 7, customers: 1, days: 1)
    defer { try? FileManager.default.removeItem(at: world.folder) }
    let clock = world.simulator.clock
    let appStore = try SimulatedAppStore(
      world.simulator, app: LivedWorld.definition, folder: world.folder)
    let supervisor = WorkerSupervisor(logger: Logger(label: "test"))
    let reconciler = Reconciler(
      store: appStore.store, ledger: appStore.ledger,
      inbox: NotificationInbox(
        ledger: appStore.ledger, lookup: appStore.lookup, catalog: appStore.catalog,
        secrets: SharedSecrets([:]), recordArrival: { _, _ in }),
      lookup: appStore.lookup, catalog: appStore.catalog, cadence: DeliveryCadence(), policies: [:],
      clocks: ServiceClocks(ServiceClock(now: { clock.now() })), supervisor: supervisor)
    let now = clock.now()
    let ahead = DeliveryWatermark(start: now.advanced(byDays: 300))
    try await appStore.store.write { store throws(StoreError) in
      try store.put(ahead, of: "demo", in: .sandbox)
    }
    let running = Task { await supervisor.run(reconciler) }
    defer { running.cancel() }
    // It ends after a tick, which looks at the watermark first.
    let order = Repair(
      appID: "demo", environment: .sandbox, reason: .manual, from: LivedWorld.start, to: now, startedAt: now)
    _ = try await reconciler.repair(order, timeout: nil)
    let watermark = try await appStore.store.snapshot { try $0.deliveryWatermark(of: "demo", in: .sandbox) }
    #expect(watermark?.searchedUntil == now && watermark?.unread == nil)
    #expect(watermark?.completeUntil == now)
    let repairs = try await appStore.store.snapshot {
      try $0.repairs(of: "demo", in: .sandbox, before: nil, limit: 10)
    }
    let search = try #require(repairs.first { $0.reason == .scheduled })
    #expect(search.onlyFailures && search.finishedAt != nil && search.from < LivedWorld.start)
    running.cancel()
    await running.value
    await appStore.store.close()
  }
}
