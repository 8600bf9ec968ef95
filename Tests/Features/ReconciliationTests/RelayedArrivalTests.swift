import AppStore
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import SQLiteStore
import SignedData
import Store
import Synchronization
import TestSupport
import Testing

@testable import Notifications
@testable import Sandbox

@Suite struct RelayedArrivalTests {
  @Test("A relay whose clock is ahead does not move an arrival into the future")
  func clockAhead() async throws {
    let world = try await LivedWorld(seed: 11, customers: 4, days: 20)
    defer { try? FileManager.default.removeItem(at: world.folder) }
    let app = AppDefinition(
      id: "demo", identity: LivedWorld.app.identity, environments: [.sandbox],
      products: [
        ProductDefinition(productID: "monthly", type: .autoRenewableSubscription, entitlements: ["pro"])
      ])
    let appStore = try SimulatedAppStore(world.simulator, app: app, folder: world.folder)
    let arrivals = Mutex<[Instant]>([])
    let inbox = NotificationInbox(
      ledger: appStore.ledger, lookup: appStore.lookup, catalog: appStore.catalog,
      secrets: SharedSecrets([:]),
      recordArrival: { _, instant in arrivals.withLock { $0.append(instant) } })
    let body = try #require(world.secondVersion.first)
    let now = world.simulator.clock.now()
    for ahead: Int64 in [-60_000, 86_400_000] {
      _ = try await inbox.ingest(
        IncomingNotification(
          appID: "demo", body: body, source: .relay, receivedAt: now.advanced(byMilliseconds: ahead)))
    }
    let recorded = arrivals.withLock { $0 }
    #expect(recorded.first == now.advanced(byMilliseconds: -60_000))
    #expect(recorded.count == 2 && recorded.allSatisfy { $0 <= world.simulator.clock.now() })
    await appStore.store.close()
  }
}
