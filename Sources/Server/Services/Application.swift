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
  private let verifier: SignedDataVerifier
  let catalog: CurrentCatalog
  private let signing: SigningSetup
  private let gate: OnlineCheckEnforcer?
  let lookup: PurchaseLookup
  private let inbox: NotificationInbox
  /// Where legacy receipts come in.
  let receiptIntake: ReceiptIntake
  let followUps: Reconciler
  /// Where migration jobs run.
  let migrations: MigrationJobManager
  private let answerCacheBytes: Int
  package let door: Door
  let hub: EventBroadcaster
  let catalogWorker: CatalogWorker
  private let archive: EventLogReader
  let clock: ServiceClock
  private var now: @Sendable () -> Instant { clock.now }
  /// What goes out by itself.
  let outlets: WebhookDispatcher
  private let desk: DeliveryAdmin
  /// Says whether the services can be called.
  package let health: HealthService

  /// All services over `store`. Apple is asked through `clients`; `secrets` make notifications of version 1
  /// known, `followUps` say what is done where none comes, and `receipts` how legacy receipts are treated. Each
  /// loop remembers answers in at most `answerCacheBytes`. `door` says who may call. What goes out to `outlets`
  /// goes through `exchange`, by the time of day that `wallClock` has; `clock` may be a sandbox's.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, verifier: SignedDataVerifier,
    catalog: CurrentCatalog, signing: SigningSetup = SigningSetup(),
    gate: OnlineCheckEnforcer? = nil, clients: AppStoreClients = AppStoreClients(),
    secrets: [String: SharedSecret] = [:], followUps: [String: ReconciliationPolicy] = [:],
    receipts: ReceiptSettings = ReceiptSettings(), outlets: [WebhookSettings] = [],
    exchange: any HTTPExchange = AsyncHTTPExchange.shared, supervisor: WorkerSupervisor,
    answerCacheBytes: Int, door: Door, clock: ServiceClock, wallClock: @escaping @Sendable () -> Instant
  ) {
    self.store = store
    self.ledger = ledger
    catalogWorker = CatalogWorker(ledger)
    self.verifier = verifier
    self.catalog = catalog
    self.signing = signing
    self.gate = gate
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
    self.answerCacheBytes = answerCacheBytes
    self.door = door
    self.clock = clock
    hub = EventBroadcaster(store: store, now: clock.now)
    archive = EventLogReader(store: store)
    self.outlets = WebhookDispatcher(
      outlets, store: store, exchange: exchange, supervisor: supervisor, now: wallClock
    ) { event in
      EntitlementEvent(event, in: catalog.value.definition(of: event.event.customer.appID)).jsonValue
    }
    desk = DeliveryAdmin(self.outlets, store: store, now: wallClock)
    self.health = HealthService(services: Contract.services.map(\.name))
  }

  /// The methods for one event loop, with a reader of the store that only this loop uses.
  package func makeHost() throws(StoreError) -> sending MethodHost {
    let reader = try store.makeReader()
    let answers = CheckResponseCache(changes: store.changes, catalog: catalog, byteLimit: answerCacheBytes)
    let entitlements = EntitlementService(
      reader: reader, changes: store.changes, catalog: catalog, answers: answers, now: now)
    let receipts = ReceiptService(
      ledger: ledger, inspection: Inspection(verifier: verifier), gate: gate, catalog: catalog,
      now: now)
    let offers = OfferService(reader: reader, catalog: catalog, setups: signing.offers, now: now)
    let tokens = TokenService(reader: reader, catalog: catalog, setup: signing.tokens, now: now)
    let customers = CustomerService(reader: reader, catalog: catalog, now: now)
    let appStore = AppStoreService(lookup: lookup, ledger: ledger, store: store, catalog: catalog, now: now)
    let metrics = SubscriptionMetricsService(store: store, catalog: catalog, now: now)
    var methods = entitlements.methods + receipts.methods + health.methods
    methods += customers.methods + metrics.methods
    methods += SubmitReceiptService(intake: receiptIntake, catalog: catalog, now: now).methods
    methods += MigrationService(desk: migrations, catalog: catalog).methods
    methods += MigrationStreamService(intake: receiptIntake, catalog: catalog, now: now).methods
    methods += AppleComparisonService(intake: receiptIntake, store: store, catalog: catalog).methods
    methods += offers.methods + tokens.methods
    methods += IdentityService(ledger: ledger, catalog: catalog, now: now).methods
    methods += GrantService(ledger: ledger, catalog: catalog, now: now).methods
    methods += TimelineService(reader: reader, catalog: catalog).methods
    methods += WatchService(hub: hub, archive: archive, catalog: catalog, now: now).methods
    methods +=
      NotificationService(
        reader: reader, inbox: inbox, appStore: appStore, catalog: catalog, now: now
      ).methods
    methods += appStore.methods
    methods += RepairService(reader: reader, followUps: followUps, catalog: catalog, now: now).methods
    methods += ReprocessService(store: store, inbox: inbox, catalog: catalog).methods
    methods += SeatService(ledger: ledger, lookup: lookup, catalog: catalog).methods
    methods += SeatListService(reader: reader, catalog: catalog).methods
    methods += NotificationComparisonService(reader: reader, catalog: catalog, now: now).methods
    methods += WebhookService(reader: reader, desk: desk, catalog: catalog).methods
    methods += FamilyService(reader: reader, catalog: catalog).methods
    methods += ReflectionService(services: Contract.services.map(\.name)).methods
    let known = Set(methods.map(\.path))
    let others = Contract.services.flatMap(\.methods).map(\.fullName).filter { !known.contains($0) }
    methods += others.map(Method.unimplemented)
    let reception = Reception(door)
    return MethodHost(
      methods: MethodTable(methods.map(reception.receiving)), turnEnded: reader.endTurn)
  }

  /// Does what has to be done before the first call: receivers that are new begin with what it changes.
  package func prepare() async throws(StoreError) { try await outlets.begin() }

  /// Where Apple delivers notifications.
  package var notificationEndpoint: NotificationEndpoint {
    NotificationEndpoint(inbox: inbox, now: now, write: door.write)
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
