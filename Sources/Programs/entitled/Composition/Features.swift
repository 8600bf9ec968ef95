internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import CommandSupport
internal import Configuration
internal import DeviceCheck
internal import Entitlements
internal import Ledger
internal import Notifications
internal import Platform
internal import ReceiptMigration
internal import Reconciliation
internal import Reporting
internal import RetentionMessaging
internal import Services
internal import SideBySide
internal import SignedData
internal import Store
internal import Webhooks
internal import Wire

/// The features: components that ingest evidence, call Apple, and deliver events. They share one ledger, one lookup and
/// one set of App Store clients, so that Apple's rate limits hold for all of them together.
struct Features: Sendable {
  /// The App Store clients of each app and environment; a reload replaces their keys.
  let clients: AppStoreClients
  /// The DeviceCheck clients of each app and environment; a reload replaces their keys.
  let deviceCheck: DeviceCheckClients
  /// The shared secrets of apps that accept version 1.
  let secrets: SharedSecrets
  /// The settings of RevenueCat's events by app id; a reload replaces them.
  let revenueCat: CurrentRevenueCatSettings
  /// Fetches purchases from Apple, and ingests what Apple returns.
  let lookup: PurchaseLookup
  /// `nil` if no app checks certificates online.
  let onlineChecks: OnlineCheckEnforcer?
  /// Ingests notifications of both versions.
  let inbox: NotificationInbox
  /// Polls statuses, repairs gaps and reports drift.
  let reconciler: Reconciler
  /// Ingests legacy receipts, with lookups at Apple.
  let receiptIntake: ReceiptIntake
  /// Answers `POST /verifyReceipt/{app}` for backends of older apps.
  let verifyReceipt: VerifyReceiptFacade
  /// Runs migration jobs, which continue after a restart.
  let migrations: MigrationJobManager
  /// Delivers events and forwards notifications.
  let webhooks: WebhookDispatcher
  /// The background loops of the features.
  let workers: [any Worker]

  /// Constructs the features; none of them runs before its worker does.
  ///
  /// - Throws: ``Failure`` for a key or secret that cannot be read.
  init(
    _ configuration: ServiceConfiguration, _ settings: ServeSettings, _ core: CoreComponents,
    sandbox: EmbeddedSandbox?, supervisor: WorkerSupervisor
  ) throws {
    let (store, ledger, catalog, clocks) = (core.store, core.ledger, core.catalog, core.clocks)
    clients = try Startup.clients(configuration, sandbox: sandbox)
    deviceCheck = try Startup.deviceCheckClients(configuration, sandbox: sandbox)
    lookup = PurchaseLookup(clients: clients, ledger: ledger)
    let onlineChecks = Startup.onlineChecks(configuration, core.verifier)
    self.onlineChecks = onlineChecks
    secrets = SharedSecrets(try Startup.sharedSecrets(configuration))
    let revenueCat = CurrentRevenueCatSettings(try Startup.revenueCat(configuration))
    self.revenueCat = revenueCat

    let cadence = DeliveryCadence()
    inbox = NotificationInbox(
      ledger: ledger, lookup: lookup, catalog: catalog, secrets: secrets,
      recordArrival: { cadence.recordArrival($0, at: $1) }, checkOnline: onlineChecks?.check)
    reconciler = Reconciler(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog, cadence: cadence,
      policies: Startup.reconciliationPolicies(configuration), clocks: clocks,
      supervisor: supervisor)

    let receipts = Startup.receipts(
      configuration, sandbox: sandbox, secrets: secrets, importFolder: settings.importFolder,
      uploads: store.replication == nil ? nil : store.uploads)
    receiptIntake = ReceiptIntake(
      ledger: ledger, lookup: lookup, catalog: catalog,
      verifier: ReceiptVerifier(verifier: core.verifier, endpoints: receipts.endpoints),
      policies: receipts.policies,
      checkOnline: onlineChecks?.check)
    verifyReceipt = VerifyReceiptFacade(
      store: store, catalog: catalog, verifier: core.verifier, secrets: secrets, intake: receiptIntake)
    migrations = MigrationJobManager(intake: receiptIntake, store: store, folder: receipts.folder)

    webhooks = try Self.webhooks(configuration, core, supervisor)
    workers =
      [migrations, webhooks, reconciler] + Self.workers(core, revenueCat)
      + clocks.all.flatMap { [receiptIntake, lookup] in
        Self.workers(of: $0, core, receiptIntake, lookup, revenueCat)
      }
  }

  /// The loops that serve all environments.
  private static func workers(
    _ core: CoreComponents, _ revenueCat: CurrentRevenueCatSettings
  ) -> [any Worker] {
    let (store, catalog) = (core.store, core.catalog)
    return [
      BusinessGauges(store: store, catalog: catalog, clocks: core.clocks),
      DeadlineGaugeWorker.consumptionRequests(store: store, catalog: catalog),
      DeadlineGaugeWorker.externalTokens(store: store, catalog: catalog),
      DeadlineGaugeWorker.consentWithdrawals(store: store, catalog: catalog),
      DisagreementWorker(
        store: store, ledger: core.ledger, catalog: catalog, settings: revenueCat, now: SystemClock.now),
    ]
  }

  /// The loops of the environments that follow `clock`.
  private static func workers(
    of clock: ServiceClock, _ core: CoreComponents, _ intake: ReceiptIntake, _ lookup: PurchaseLookup,
    _ revenueCat: CurrentRevenueCatSettings
  ) -> [any Worker] {
    let (store, ledger, catalog) = (core.store, core.ledger, core.catalog)
    return [
      RefreshWorker(intake, store: store, clock: clock),
      DueWorker.reports(store: store, catalog: catalog, clock: clock),
      DueWorker.retentionOutcomes(store: store, ledger: ledger, clock: clock),
      DueWorker.comparisons(store: store, ledger: ledger, settings: revenueCat, clock: clock),
      ConsumptionRequestWorker(store: store, ledger: ledger, lookup: lookup, catalog: catalog, clock: clock),
    ]
  }

  /// The webhooks, whose messages have an event as the contract defines it.
  private static func webhooks(
    _ configuration: ServiceConfiguration, _ core: CoreComponents, _ supervisor: WorkerSupervisor
  ) throws -> WebhookDispatcher {
    WebhookDispatcher(
      try Startup.webhooks(configuration), store: core.store, exchange: CurlExchange.shared,
      supervisor: supervisor, now: SystemClock.now
    ) { event in
      EntitlementEvent(
        event, in: core.catalog.value.definition(of: event.event.customer.appID),
        erasedCustomerID: core.ledger.erasedCustomerID(of: event)
      ).jsonValue
    }
  }
}
