package import AppStore
package import Entitlements
package import FamilySharing

/// The reads of Check and BatchCheck: by primary key, short enough for an event loop.
///
/// All reads of one event loop tick, from the first one to ``endTick()``, see the same snapshot; it
/// contains every write that was acknowledged before the first of them.
package protocol CheckReader: AnswerReader {
  /// Ends the tick: the next read sees later writes. Must be called after every tick with reads, because the
  /// store keeps old data as long as a reader can see it.
  func endTick()
}

/// Reads the answers and the facts of one customer.
package protocol AnswerReader: AnyObject, EvidenceLookup {
  /// Returns the answer about `entitlement` at `now`, if it was computed when the customer's facts were
  /// written and is still valid under `fingerprint` (``AppDefinition/fingerprint``).
  ///
  /// The hot read: its cost must not depend on the number of facts or customers.
  func answer(
    to entitlement: String, of customer: CustomerKey, under fingerprint: UInt64, at now: Instant
  ) throws(StoreError) -> AnswerLookup

  /// Returns the last commit that all reads of the snapshot are certain to see; see ``CustomerVersions``.
  func snapshotVersion() throws(StoreError) -> UInt64

  /// Returns the facts of a customer; `nil` if there are none.
  func facts(of customer: CustomerKey) throws(StoreError) -> CustomerFacts?

  /// Returns the facts of a customer unless there are so many that the store keeps them in several rows; `nil` then.
  /// Those of an unknown customer are empty.
  func smallFacts(of customer: CustomerKey) throws(StoreError) -> CustomerFacts?
}

/// All data as of one commit, valid inside the body of one ``EntitlementStore/read(_:deadline:_:)``, on its thread.
///
/// Every method throws ``StoreError`` if the database fails or its data is damaged, and ``StoreError/deadlineExceeded`` or
/// ``StoreError/cancelled`` if the read was stopped. A read of something that is not stored does not throw.
package protocol StoreSnapshot: AnswerReader, LineReader, PollReader, RefreshReader, RepairReader,
  DeliveryReader, NotificationReader, ConsumptionRequestReader, MigrationJobReader, ErasureReader,
  AuditReader, ConsentWithdrawalReader, CustomerSearchReader, ExternalTokenReader, IdempotencyReader,
  ImportedEventReader, InstallationReader, NoteReader, StatusReader, GrantReader, PriceReader, ReportReader,
  RetentionRequestReader,
  SegmentReader
{
  /// Returns at most `limit` customers of an app in one environment with their facts, after the last one of
  /// the previous page; `nil` begins. The order is the store's own. A customer added after the first page may
  /// be left out.
  func customers(
    of appID: String, in environment: Environment, after customer: String?, limit: Int
  ) throws(StoreError) -> [CustomerRecord]

  /// Returns the owned consumable purchases with units to deliver or to take back, ordered by transaction id,
  /// each with its longest-standing owner.
  func unfulfilled(
    _ filter: UnfulfilledFilter
  ) throws(StoreError) -> [(record: FulfillmentRecord, customerID: String)]

  /// Returns one transaction by its `transactionId`; `nil` if it is not stored.
  func transaction(
    _ transactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> TransactionFact?

  /// Returns at most `limit` lines with a purchase of `productID` that families can share and that has this
  /// ``TransactionFact/sharedInstant``.
  func lines(
    sharing productID: String, at sharedInstant: Instant, of appID: String, in environment: Environment,
    limit: Int
  ) throws(StoreError) -> [LineKey]

  /// Returns all seats of a purchase that are or were claimed, oldest first.
  func seats(of purchase: LineKey) throws(StoreError) -> [Seat]

  /// Returns the ownership history of a customer, oldest first.
  func ownershipChanges(of customer: CustomerKey) throws(StoreError) -> [OwnershipChange]

  /// Returns the changes of an app's catalog, oldest first.
  func catalogChanges(of appID: String) throws(StoreError) -> [CatalogChange]

  /// Returns at most `limit` unclaimed purchases of an app, ordered by line id, after `line`.
  func unclaimedLines(
    of appID: String, in environment: Environment, after line: String?, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// Returns one piece of evidence; `nil` if it does not exist.
  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence?

  /// Returns all accepted evidence about a line, ordered by id.
  func evidence(about line: LineKey) throws(StoreError) -> [StoredEvidence]

  /// Returns at most `limit` events of a customer after `sequence`, in order.
  func events(
    of customer: CustomerKey, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [StoredEvent]

  /// Returns at most `limit` events of an app after `sequence`, in order.
  func events(
    ofApp appID: String, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [StoredEvent]

  /// Returns the sequence of the last event of a customer; 0 if there is none.
  func lastSequence(of customer: CustomerKey) throws(StoreError) -> Int64

  /// Returns the sequence of the last event of an app; 0 if there is none.
  func lastSequence(ofApp appID: String) throws(StoreError) -> Int64

  /// Returns the apps that have evidence, sorted, also those that are not configured any more.
  func appsWithEvidence() throws(StoreError) -> [String]

  /// Returns the apps that have events, sorted.
  func appsWithEvents() throws(StoreError) -> [String]

  /// Returns the position of this snapshot in the history of an app.
  func position(of appID: String) throws(StoreError) -> StorePosition

  /// Returns the number of commits that this snapshot sees; `nil` if one process has the store for itself.
  func commitMark() throws(StoreError) -> CommitMark?

  /// Whether the history of this snapshot has the commits up to `mark`. It does not if the database was replaced by an
  /// older state since, such as that of a standby that lacked the last ones; others may have taken their positions.
  func includes(_ mark: CommitMark) throws(StoreError) -> Bool

  /// Returns the next time at which an answer changes without new evidence; `nil` if there is none.
  func nextDue(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Returns the notifications that match, latest first.
  func notifications(_ query: NotificationFilter) throws(StoreError) -> [NotificationRecord]

  /// Returns the notification whose body is this evidence; `nil` if the evidence is something else.
  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord?

  /// Returns at most `limit` pieces of evidence after `id`, ordered by id.
  func evidence(after id: EvidenceID?, limit: Int) throws(StoreError) -> [StoredEvidence]

  /// Returns the number of rows of each kind. Scans tables: not for a hot path.
  func counts() throws(StoreError) -> StoreCounts
}

/// The number of rows of each kind in the store.
package struct StoreCounts: Hashable, Sendable {
  /// All evidence, including rejected evidence.
  package var evidence: Int64
  /// Evidence that was rejected; part of ``evidence``.
  package var rejectedEvidence: Int64
  /// Transactions, each period of a subscription.
  package var transactions: Int64
  /// Lines with a renewal info.
  package var renewals: Int64
  /// Customers, counted in each environment.
  package var customers: Int64
  /// Events of all apps.
  package var events: Int64

  /// Creates counts from their parts.
  package init(
    evidence: Int64, rejectedEvidence: Int64, transactions: Int64, renewals: Int64, customers: Int64,
    events: Int64
  ) {
    self.evidence = evidence
    self.rejectedEvidence = rejectedEvidence
    self.transactions = transactions
    self.renewals = renewals
    self.customers = customers
    self.events = events
  }
}
