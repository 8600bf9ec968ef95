package import AppStore
package import Entitlements

/// Stores the facts of lines.
package protocol FactStore {
  /// Stores the fact of a signed transaction. Of two documents about one transaction the one that supersedes
  /// the other is stored, in whichever order they arrive, and its evidence is that of the fact.
  ///
  /// - Returns: what changed.
  func put(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> FactInsertion

  /// Adds the fact of a signed renewal info that the service has had since `knownAt`. All of them are stored.
  ///
  /// - Returns: what changed.
  func put(
    _ fact: RenewalFact, of line: LineKey, knownAt: Instant, from evidence: EvidenceID
  ) throws(StoreError) -> FactInsertion

  /// Stores the fact of a signed app transaction; see ``put(_:of:from:)-(TransactionFact,_,_)``.
  ///
  /// - Returns: whether the stored facts changed.
  func put(
    _ fact: AppTransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool

  /// Stores a grant, or its newer state.
  func put(_ fact: GrantFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError)

  /// States that the line of a grant has a new id, so that nothing is stored about it and it needs no look.
  func willStoreGrant(in line: LineKey)

  /// Returns the line of the purchase `externalID` of another store; `nil` if there is none.
  func grant(
    ofPurchase externalID: String, in source: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> LineKey?

  /// Returns the line of a grant in either environment; `nil` if there is none.
  func grant(_ id: String, of appID: String) throws(StoreError) -> LineKey?
}
