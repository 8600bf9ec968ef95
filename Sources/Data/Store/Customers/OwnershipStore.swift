package import AppStore

/// A line became, or is no longer, a customer's.
package struct OwnershipChange: Hashable, Sendable {
  /// What changed hands.
  package let line: LineKey
  /// Whose it became, or was.
  package let customerID: String
  /// Whether the customer has it from here on; else no more.
  package let gained: Bool
  /// When, by the service's clock.
  package let at: Instant
  /// What decided it.
  package let evidenceID: EvidenceID

  /// A change by its parts.
  package init(line: LineKey, customerID: String, gained: Bool, at: Instant, evidenceID: EvidenceID) {
    self.line = line
    self.customerID = customerID
    self.gained = gained
    self.at = at
    self.evidenceID = evidenceID
  }
}

/// Keeps whose each line is, and how it came to that.
package protocol OwnershipStore {
  /// The customers that have the line, the one that has had it longest first. More than one only where it
  /// is shared.
  func owners(of line: LineKey) throws(StoreError) -> [String]

  /// All lines that a customer has, in no particular order.
  func lines(of customer: CustomerKey) throws(StoreError) -> [LineKey]

  /// Gives a line to a customer or takes it away, and remembers that. The customer must not have it
  /// already, or must have it.
  func record(_ change: OwnershipChange) throws(StoreError)

  /// What one piece of evidence gave to a customer and took from it, in the order in which it happened.
  func ownershipChanges(
    of customer: CustomerKey, by evidence: EvidenceID
  ) throws(StoreError) -> [OwnershipChange]
}
