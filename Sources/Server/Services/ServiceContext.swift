internal import AppStore
internal import Ledger
internal import Platform
internal import RPC
internal import SignedData
internal import Store
package import Webhooks

/// The components that the service handlers share. All of them may be used on any thread. The composition root creates
/// one, and each handler has a copy of it, which costs references only.
package struct ServiceContext: Sendable {
  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let catalog: CurrentCatalog
  let verifier: SignedDataVerifier
  /// The keys of offers and tokens.
  let signing: SigningSettings
  let apple: AppleComponents
  let intake: IntakeComponents
  let streams: StreamComponents
  /// The operator's view of webhooks.
  let deliveries: DeliveryAdmin
  /// Makes and checks the page tokens of all list methods.
  let pageTokens: PageTokens
  /// Adds positions to the responses of methods that write.
  let positions: PositionStamp
  let status: StatusComponents
  /// The buffers, which methods flush before they read what these write.
  let records: RecordBuffers
  /// The limit of expensive calls, which all methods of the process share.
  let expensiveCalls = ExpensiveCalls()
  /// The customers that can be answered about while a database across a network is away.
  let answerMemory: AnswerMemory
  /// Held during calls to Apple with idempotency keys.
  let appleLocks = KeyLocks()
  /// Hands calls to the leader; `nil` for a process that has the store for itself.
  let forwarder: CallForwarder?

  package init(
    _ core: LedgerComponents, signing: SigningSettings, apple: AppleComponents, intake: IntakeComponents,
    streams: StreamComponents, deliveries: DeliveryAdmin, pageTokens: PageTokens, status: StatusComponents,
    records: RecordBuffers
  ) {
    (store, ledger, catalog, verifier) = (core.store, core.ledger, core.catalog, core.verifier)
    self.signing = signing
    self.apple = apple
    self.intake = intake
    self.streams = streams
    self.deliveries = deliveries
    self.pageTokens = pageTokens
    positions = PositionStamp(store: store, tokens: PositionTokens(store.feed))
    answerMemory = AnswerMemory(changes: store.changes, byteLimit: Self.rememberedBytes)
    self.status = status
    self.records = records
    forwarder = CallForwarder(core.leadership)
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
