import AppStore
import AppStoreClient
import AppleLookup
import DeviceCheck
import Entitlements
import Ledger
import Notifications
import Platform
import RPC
import ReceiptMigration
import Reconciliation
import SignedData
import Store
import TestSupport
import Webhooks

@testable import Services

extension ServiceContext {
  /// A context with the app ``WatchFixture/ocean`` over a store, without clients of Apple, webhooks and running workers.
  /// Migrations would read `folder`.
  static func idle(over store: any EntitlementStore, folder: String) throws -> ServiceContext {
    let now: @Sendable () -> Instant = { WatchFixture.instant }
    let clocks = ServiceClocks(ServiceClock(now: now))
    let catalog = CurrentCatalog(Catalog([WatchFixture.ocean]))
    let verifier = try SignedDataVerifier(anchors: .apple())
    let ledger = EvidenceLedger(store: store, verifier: verifier, catalog: catalog, now: now)
    let lookup = PurchaseLookup(clients: AppStoreClients(), ledger: ledger)
    let leadership = Leadership(nil)
    let logger = LogLines().logger
    let supervisor = WorkerSupervisor(logger: logger)
    let inbox = NotificationInbox(
      ledger: ledger, lookup: lookup, catalog: catalog, secrets: SharedSecrets([:]),
      recordArrival: { _, _ in })
    let receipts = ReceiptIntake(
      ledger: ledger, lookup: lookup, catalog: catalog,
      verifier: ReceiptVerifier(verifier: verifier, endpoints: [:]), policies: [:])
    let webhooks = WebhookDispatcher(
      [], store: store, exchange: CurlExchange.shared, supervisor: supervisor, now: now,
      encode: { _ in .null })
    return ServiceContext(
      LedgerComponents(
        store: store, ledger: ledger, catalog: catalog, verifier: verifier, leadership: leadership),
      signing: SigningSettings(),
      apple: AppleComponents(lookup: lookup, deviceCheck: DeviceCheckClients(), onlineChecks: nil),
      intake: IntakeComponents(
        notifications: inbox, receipts: receipts,
        migrations: MigrationJobManager(intake: receipts, store: store, folder: ImportFolder(path: folder)),
        reconciler: Reconciler(
          store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog,
          cadence: DeliveryCadence(), policies: [:], clocks: clocks, supervisor: supervisor)),
      streams: StreamComponents(broadcaster: EventBroadcaster(store: store, now: now), limit: StreamLimit()),
      deliveries: DeliveryAdmin(webhooks, store: store, now: now), pageTokens: PageTokens(key: [1]),
      status: StatusComponents(
        monitor: HealthMonitor(
          store: store, health: HealthService(services: []), logger: logger, freeBytes: { nil }),
        information: ServiceInformation(
          version: "test", startedAt: now(),
          configuration: .init(document: [:], path: nil, loadedAt: now(), pendingRestart: []),
          certificates: { [] })),
      records: RecordBuffers(
        auditEntries: RecordBuffer(ledger, leadership: leadership) { _ in },
        retentionRequests: RecordBuffer(ledger, leadership: leadership)))
  }
}
