package import AppStore
package import Entitlements

/// Reads the store on one event loop.
///
/// All reads of one turn of the loop, from the first one to ``endTurn()``, see the store at one moment;
/// a write that was acknowledged before the first of them is seen.
package protocol StoreReader: AnyObject {
  /// The answer about `entitlement` at `now`, if it was worked out when the customer's facts were written
  /// and still holds under `fingerprint` (``AppDefinition/fingerprint``).
  ///
  /// The hot read: it must not get slower with the number of facts or of customers.
  func answer(
    to entitlement: String, of customer: CustomerKey, under fingerprint: UInt64, at now: Instant
  ) throws(StoreError) -> StoredAnswer

  /// The last commit that all reads of this turn are sure to see; see ``CustomerChanges``. Reads nothing,
  /// but begins the turn.
  func seenCommit() throws(StoreError) -> UInt64

  /// What is known of a customer; `nil` if there is nothing.
  func facts(of customer: CustomerKey) throws(StoreError) -> CustomerFacts?

  /// At most `limit` customers of an app in one environment, with what is known of them, beginning behind
  /// the one that was the last of the page before; `nil` begins. The order is the store's own. Who is new
  /// since the first page may be left out.
  func customers(
    of appID: String, in environment: Environment, after customer: String?, limit: Int
  ) throws(StoreError) -> [CustomerRecord]

  /// The customer to whom a purchase line is linked; `nil` if it is linked to none.
  func owner(of line: LineKey) throws(StoreError) -> String?

  /// At most `limit` pieces of evidence in the order of their numbers, beginning behind `id`.
  func evidence(after id: EvidenceID?, limit: Int) throws(StoreError) -> [StoredEvidence]

  /// How much there is of everything. Counts row by row: not for a hot path.
  func counts() throws(StoreError) -> StoreCounts

  /// Ends the turn: the next read sees what was written meanwhile. Must be called after every turn in
  /// which something was read, since the store keeps the past for as long as a reader looks at it.
  func endTurn()
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

  /// Counts of everything.
  package init(
    evidence: Int64, rejectedEvidence: Int64, transactions: Int64, renewals: Int64, customers: Int64
  ) {
    self.evidence = evidence
    self.rejectedEvidence = rejectedEvidence
    self.transactions = transactions
    self.renewals = renewals
    self.customers = customers
  }
}
