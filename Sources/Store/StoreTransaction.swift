package import Entitlements

/// What can be done inside one ``EntitlementStore/write(_:)``. Valid only while its body runs.
package protocol StoreTransaction {
  /// Keeps evidence, unless the same is there already: the same content with the same verdict, of the
  /// same kind, for the same app, on behalf of the same customer.
  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence

  /// Remembers what a signed transaction says. Of two documents about one transaction the one that
  /// supersedes the other stays, whichever came first.
  ///
  /// - Returns: whether anything changed.
  func put(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool

  /// Remembers what a signed renewal info says; see ``put(_:of:from:)-(TransactionFact,_,_)``.
  func put(_ fact: RenewalFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError) -> Bool

  /// All facts about one purchase line.
  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts

  /// The customer to whom the line is linked; `nil` if it is linked to none.
  func owner(of line: LineKey) throws(StoreError) -> String?

  /// Links a line to a customer, unless it is linked already. A line belongs to one customer at a time.
  func link(
    _ line: LineKey, to customerID: String, from evidence: EvidenceID
  ) throws(StoreError) -> LinkOutcome

  /// What ``putFacts(_:answers:of:)`` last kept for the customer; `nil` if nothing.
  func facts(of customer: CustomerKey) throws(StoreError) -> CustomerFacts?

  /// Replaces what readers see of the customer: the facts, and the answers that were worked out from them.
  func putFacts(
    _ facts: CustomerFacts, answers: CustomerAnswers, of customer: CustomerKey
  ) throws(StoreError)
}

/// What came of appending evidence.
package struct AppendedEvidence: Hashable, Sendable {
  /// The number under which it is kept.
  package let id: EvidenceID
  /// It was there already; nothing was written, and `id` is the number it has had.
  package let wasKnown: Bool

  /// The number of a piece of evidence, and whether it had it before.
  package init(id: EvidenceID, wasKnown: Bool) {
    self.id = id
    self.wasKnown = wasKnown
  }
}

/// What came of linking a purchase line to a customer.
package enum LinkOutcome: Hashable, Sendable {
  case linked
  /// It was linked to this customer before.
  case alreadyLinked
  /// It belongs to another customer; nothing was written.
  case ownedByAnother(customerID: String)
}
