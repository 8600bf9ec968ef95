package import AppStore
package import AppStoreClient
package import AppleLookup
internal import Callers
internal import Entitlements
internal import JSON
package import Ledger
package import Notifications
package import Platform
package import RPC
package import ReceiptMigration
package import Reconciliation
package import SignedData
package import Store
package import Webhooks
internal import Wire

/// All services of the contract, wired to what they use.
package struct Application: Sendable {
  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let catalog: CurrentCatalog
  private let signing: SigningSetup
  let lookup: PurchaseLookup
  private let inbox: NotificationInbox
  /// Where legacy receipts come in.
  let receiptIntake: ReceiptIntake
  let followUps: Reconciler
  /// Where migration jobs run.
  let migrations: MigrationJobManager
  private let policy: CallPolicy
  let hub: EventBroadcaster
  let catalogWorker: CatalogWorker
  let clock: ServiceClock
  private var now: @Sendable () -> Instant { clock.now }
  /// What goes out by itself.
  let outlets: WebhookDispatcher
  /// The methods for event loops and the edge.
  package let services: Services
  /// Says whether the services can be called.
  package let health: HealthService

  /// All services over `store`. Apple is asked through `clients`; `secrets` make notifications of version 1
  /// known, `followUps` say what is done where none comes, and `receipts` how legacy receipts are treated. Each
  /// loop remembers answers in at most `answerCacheBytes`. `policy` says who may call. What goes out to `outlets`
  /// goes through `exchange`, by the time of day that `wallClock` has; `clock` may be a sandbox's.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, verifier: SignedDataVerifier,
    catalog: CurrentCatalog, signing: SigningSetup = SigningSetup(),
    gate: OnlineCheckEnforcer? = nil, clients: AppStoreClients = AppStoreClients(),
    secrets: [String: SharedSecret] = [:], followUps: [String: ReconciliationPolicy] = [:],
    receipts: ReceiptSettings = ReceiptSettings(), outlets: [WebhookSettings] = [],
    exchange: any HTTPExchange = AsyncHTTPExchange.shared, supervisor: WorkerSupervisor,
    answerCacheBytes: Int, policy: CallPolicy, clock: ServiceClock,
    wallClock: @escaping @Sendable () -> Instant
  ) {
    self.store = store
    self.ledger = ledger
    catalogWorker = CatalogWorker(ledger)
    self.catalog = catalog
    self.signing = signing
    lookup = PurchaseLookup(clients: clients, ledger: ledger)
    let cadence = DeliveryCadence()
    inbox = NotificationInbox(
      ledger: ledger, lookup: lookup, catalog: catalog, secrets: secrets,
      recordArrival: { cadence.recordArrival($0, at: $1) },
      checkOnline: gate?.check)
    self.followUps = Reconciler(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog, cadence: cadence,
      policies: followUps, clock: clock)
    receiptIntake = ReceiptIntake(
      ledger: ledger, lookup: lookup, catalog: catalog,
      verifier: ReceiptVerifier(verifier: verifier, endpoints: receipts.endpoints),
      policies: receipts.policies,
      checkOnline: gate?.check, now: clock.now)
    verifyReceiptFacade = VerifyReceiptFacade(
      store: store, catalog: catalog, verifier: verifier, secrets: secrets, intake: receiptIntake,
      now: clock.now)
    migrations = MigrationJobManager(intake: receiptIntake, store: store, folder: receipts.folder)
    self.policy = policy
    self.clock = clock
    hub = EventBroadcaster(store: store, now: clock.now)
    self.outlets = WebhookDispatcher(
      outlets, store: store, exchange: exchange, supervisor: supervisor, now: wallClock
    ) { event in
      EntitlementEvent(event, in: catalog.value.definition(of: event.event.customer.appID)).jsonValue
    }
    health = HealthService(services: Contract.services.map(\.name))
    services = Services(
      ServiceContext(
        store: store, ledger: ledger, catalog: catalog, clock: clock, verifier: verifier, signing: signing,
        onlineChecks: gate, lookup: lookup, inbox: inbox, reconciler: self.followUps,
        receiptIntake: receiptIntake, migrations: migrations, broadcaster: hub,
        deliveries: DeliveryAdmin(self.outlets, store: store, now: wallClock)),
      policy: policy, health: health, cacheBytes: answerCacheBytes)
  }

  /// Does what has to be done before the first call: receivers that are new begin with what it changes.
  package func prepare() async throws(StoreError) { try await outlets.begin() }

  /// Where Apple delivers notifications.
  package var notificationEndpoint: NotificationEndpoint {
    NotificationEndpoint(inbox: inbox, now: now, audit: policy.audit)
  }

  /// What answers as `verifyReceipt` does.
  package let verifyReceiptFacade: VerifyReceiptFacade

  /// The public keys of entitlement tokens, a JSON Web Key Set. Empty if no tokens are made.
  package var jwks: [UInt8] {
    (signing.tokens?.keys.current.jwks ?? ["keys": []]).serialized()
  }

  /// Reads the keys of entitlement tokens again, without a pause. If one cannot be used, all stays as it was.
  ///
  /// - Returns: the name of the key that signs from now on; `nil` if no tokens are made.
  @discardableResult
  package func reloadKeys() throws(PrivateKeyFileError) -> String? {
    try signing.tokens?.keys.reload()
  }
}
