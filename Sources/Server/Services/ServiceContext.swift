internal import AppStore
package import AppleLookup
package import DeviceCheck
package import Ledger
package import Notifications
internal import Platform
internal import RPC
package import ReceiptMigration
package import Reconciliation
package import SignedData
package import Store
package import Webhooks

/// The components that the service handlers share. All of them may be used on any thread.
package struct ServiceContext: Sendable {
  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let catalog: CurrentCatalog
  let verifier: SignedDataVerifier
  let signing: SigningSettings
  /// `nil` if no app requires online checks.
  let onlineChecks: OnlineCheckEnforcer?
  let lookup: PurchaseLookup
  let deviceCheck: DeviceCheckClients
  let inbox: NotificationInbox
  let reconciler: Reconciler
  let receiptIntake: ReceiptIntake
  let migrations: MigrationJobManager
  let broadcaster: EventBroadcaster
  let deliveries: DeliveryAdmin
  let pageTokens: PageTokens
  let positions: PositionStamp
  let monitor: HealthMonitor
  let information: ServiceInformation
  let auditEntries: RecordBuffer<Store.AuditEntry>
  let retentionRequests: RecordBuffer<Store.RetentionRequestRecord>
  let expensiveCalls = ExpensiveCalls()
  let streamLimit: StreamLimit
  /// The customers that can be answered about while a database across a network is away.
  let answerMemory: AnswerMemory
  /// Held during calls to Apple with idempotency keys.
  let appleLocks = KeyLocks()
  /// Hands calls to the leader; `nil` for a process that has the store for itself.
  let forwarder: CallForwarder?

  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, catalog: CurrentCatalog,
    verifier: SignedDataVerifier, signing: SigningSettings, onlineChecks: OnlineCheckEnforcer?,
    lookup: PurchaseLookup, deviceCheck: DeviceCheckClients, inbox: NotificationInbox,
    reconciler: Reconciler, receiptIntake: ReceiptIntake,
    migrations: MigrationJobManager, broadcaster: EventBroadcaster, deliveries: DeliveryAdmin,
    pageTokens: PageTokens, monitor: HealthMonitor,
    information: ServiceInformation,
    auditEntries: RecordBuffer<Store.AuditEntry>,
    retentionRequests: RecordBuffer<Store.RetentionRequestRecord>, streamLimit: StreamLimit,
    leadership: Leadership
  ) {
    self.store = store
    self.ledger = ledger
    self.catalog = catalog
    self.verifier = verifier
    self.signing = signing
    self.onlineChecks = onlineChecks
    self.lookup = lookup
    self.deviceCheck = deviceCheck
    self.inbox = inbox
    self.reconciler = reconciler
    self.receiptIntake = receiptIntake
    self.migrations = migrations
    self.broadcaster = broadcaster
    self.deliveries = deliveries
    self.pageTokens = pageTokens
    positions = PositionStamp(store: store, tokens: PositionTokens(store.feed))
    answerMemory = AnswerMemory(changes: store.changes, byteLimit: Self.rememberedBytes)
    self.monitor = monitor
    self.information = information
    self.auditEntries = auditEntries
    self.retentionRequests = retentionRequests
    self.streamLimit = streamLimit
    forwarder = CallForwarder(leadership)
  }

  /// The memory of a process for stored answers: about 150,000 customers.
  private static let rememberedBytes = 64 << 20

  /// The time in an environment: that of an embedded sandbox in its environment, otherwise the machine's.
  func now(in environment: AppStore.Environment) -> AppStore.Instant { ledger.clocks.now(in: environment) }

  /// Reads one snapshot of the store, away from the event loops. The transport cancels the task of a call at its
  /// deadline, and that stops the read.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(Status) -> Value {
    do throws(StoreError) { return try await store.read(.interactive, body) } catch { throw Status(error) }
  }

  /// The same for a call whose cost grows with the history of a customer or the number of customers: within the limits
  /// of ``ExpensiveCalls``, and on the reader threads that leave room for other reads.
  func readExpensively<Value: Sendable>(
    _ call: CallContext, _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(Status) -> Value {
    try await customerReads.expensively(call, body)
  }

  /// The same for a call whose cost grows with the facts of `customer`; of a customer with few it is no expensive call.
  func read<Value: Sendable>(
    about customer: CustomerKey, _ call: CallContext,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(Status) -> Value {
    try await customerReads.read(about: customer, call, body)
  }

  private var customerReads: CustomerReads { CustomerReads(store: store, expensiveCalls: expensiveCalls) }
}
