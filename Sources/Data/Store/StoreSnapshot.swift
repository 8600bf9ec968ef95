package import AppStore
package import Entitlements
package import FamilySharing

/// The reads that Check and BatchCheck need: by primary key, short enough for an event loop.
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
  /// The answer about `entitlement` at `now`, if it was computed when the customer's facts were written
  /// and is still valid under `fingerprint` (``AppDefinition/fingerprint``).
  ///
  /// The hot read: its cost must not depend on the number of facts or customers.
  func answer(
    to entitlement: String, of customer: CustomerKey, under fingerprint: UInt64, at now: Instant
  ) throws(StoreError) -> AnswerLookup

  /// The last commit that all reads of the snapshot are certain to see; see ``CustomerVersions``.
  func snapshotVersion() throws(StoreError) -> UInt64

  /// The facts of a customer; `nil` if there are none.
  func facts(of customer: CustomerKey) throws(StoreError) -> CustomerFacts?
}

/// A reader that ends its snapshot itself; kept until every service reads through ``EntitlementStore/read(_:deadline:_:)``.
package protocol StoreReader: StoreSnapshot {
  /// Ends the snapshot: the next read sees later writes.
  func endTurn()
}

/// All data as of one commit, valid inside the body of one ``EntitlementStore/read(_:deadline:_:)``.
package protocol StoreSnapshot: AnswerReader, PollReader, RepairReader, DeliveryReader, NotificationReader,
  ConsumptionRequestReader, MigrationJobReader
{
  /// At most `limit` customers of an app in one environment, with what is known of them, beginning behind
  /// the one that was the last of the page before; `nil` begins. The order is the store's own. Who is new
  /// since the first page may be left out.
  func customers(
    of appID: String, in environment: Environment, after customer: String?, limit: Int
  ) throws(StoreError) -> [CustomerRecord]

  /// The customers that have a line, the one that has had it longest first; none if it is unclaimed.
  func owners(of line: LineKey) throws(StoreError) -> [String]

  /// What is known of one purchase line, whosever it is.
  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts

  /// One transaction by Apple's number of it; `nil` if it is not known.
  func transaction(
    _ transactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> TransactionFact?

  /// At most `limit` lines with a purchase of `productID` that families can share and that has this
  /// ``TransactionFact/sharedInstant``.
  func lines(
    sharing productID: String, at sharedInstant: Instant, of appID: String, in environment: Environment,
    limit: Int
  ) throws(StoreError) -> [LineKey]

  /// The lines that were bought through one copy of the app, by Apple's number of it (`appTransactionId`): what one
  /// Apple account has in the app. None for what was bought before Apple gave copies a number.
  func lines(
    ofCopy appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey]

  /// All claims of seats of a purchase, the first one first.
  func seats(of purchase: LineKey) throws(StoreError) -> [Seat]

  /// What a customer gained and lost, in the order in which it happened.
  func ownershipChanges(of customer: CustomerKey) throws(StoreError) -> [OwnershipChange]

  /// At most `limit` purchase lines of an app that belong to nobody, in the order of their numbers,
  /// beginning behind `line`.
  func unclaimedLines(
    of appID: String, in environment: Environment, after line: String?, limit: Int
  ) throws(StoreError) -> [UnclaimedLine]

  /// One piece of evidence; `nil` if there is none of that number.
  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence?

  /// All evidence about a line that was believed, in the order of its numbers.
  func evidence(about line: LineKey) throws(StoreError) -> [StoredEvidence]

  /// At most `limit` events in the order of their numbers, beginning behind `sequence`: those of one
  /// customer, or all.
  func events(
    of customer: CustomerKey?, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [StoredEvent]

  /// The number of the last event, of one customer or of all; 0 if there is none.
  func lastSequence(of customer: CustomerKey?) throws(StoreError) -> Int64

  /// When time alone changes an answer next; `nil` if it never does.
  func nextDue() throws(StoreError) -> Instant?

  /// When Apple is to be asked next about a line; `nil` if about none.
  func nextRefresh() throws(StoreError) -> Instant?

  /// When Apple was last asked about the customer of a line; `nil` if never.
  func lastRefresh(of line: LineKey) throws(StoreError) -> Instant?

  /// The notifications that are asked for, the latest first.
  func notifications(_ query: NotificationFilter) throws(StoreError) -> [NotificationRecord]

  /// At most `limit` pieces of evidence in the order of their numbers, beginning behind `id`.
  func evidence(after id: EvidenceID?, limit: Int) throws(StoreError) -> [StoredEvidence]

  /// How much there is of everything. Counts row by row: not for a hot path.
  func counts() throws(StoreError) -> StoreCounts
}

/// How much the store holds.
package struct StoreCounts: Hashable, Sendable {
  /// Everything that arrived, the rejected included.
  package var evidence: Int64
  /// What of it was not believed.
  package var rejectedEvidence: Int64
  /// Transactions of which something is known.
  package var transactions: Int64
  /// Purchase lines of which a renewal info is known.
  package var renewals: Int64
  /// Customers of whom something is known, counted in each environment.
  package var customers: Int64
  /// Changes of state that were committed.
  package var events: Int64

  /// Counts of everything.
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

/// A purchase line that belongs to nobody yet.
package struct UnclaimedLine: Hashable, Sendable {
  /// Which one.
  package let line: LineKey
  /// The evidence of its latest transaction.
  package let latest: EvidenceID

  /// A line and what it was last heard of.
  package init(line: LineKey, latest: EvidenceID) {
    self.line = line
    self.latest = latest
  }
}

extension StoreSnapshot {
  /// The customer that has had a line longest; `nil` if it is unclaimed.
  package func owner(of line: LineKey) throws(StoreError) -> String? { try owners(of: line).first }
}
