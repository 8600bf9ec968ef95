/// Keeps what arrives.
package protocol EvidenceLog {
  /// Keeps evidence, unless the same is there already: the same content with the same verdict, of the
  /// same kind, for the same app, on behalf of the same customer.
  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence

  /// Keeps evidence that has a number of Apple's own, under which the caller has not found it. It is not
  /// looked for by its content, and not found by it.
  func appendNew(_ evidence: Evidence) throws(StoreError) -> EvidenceID

  /// Keeps evidence under the number that it has in another store. For replaying into an empty one.
  func restore(_ evidence: StoredEvidence) throws(StoreError)

  /// The number that the next new piece of evidence gets.
  func nextEvidenceID() throws(StoreError) -> EvidenceID

  /// One piece of evidence; `nil` if there is none of that number.
  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence?

  /// Remembers that evidence names a customer besides the one on whose behalf it came.
  func relate(_ evidence: EvidenceID, to customer: CustomerKey) throws(StoreError)

  /// Remembers that evidence is about a line.
  func relate(_ evidence: EvidenceID, to line: LineKey) throws(StoreError)
}
