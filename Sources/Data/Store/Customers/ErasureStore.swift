/// Takes persons out of what is remembered.
package protocol ErasureStore {
  /// Those who were joined into the customer.
  func mergedCustomers(into customer: CustomerKey) throws(StoreError) -> [String]

  /// All evidence that names the customer, the rejected included.
  func evidence(naming customer: CustomerKey) throws(StoreError) -> [StoredEvidence]

  /// Puts other content in the place of evidence that names the person: the one exception to the rule that
  /// evidence never changes.
  func replace(_ evidence: EvidenceID, with content: EvidenceContent) throws(StoreError)

  /// Deletes a grant for good.
  func delete(grant line: LineKey) throws(StoreError)

  /// Replaces the customer's name by `pseudonym` in all that is remembered, and deletes what only leads to
  /// the person. The customer must have no lines any more, and ``StoreTransaction/putFacts(_:answers:of:)``
  /// must have been told so.
  ///
  /// - Returns: how many rows lost the person.
  func forget(_ customer: CustomerKey, as pseudonym: String) throws(StoreError) -> Int64
}
