package import AppStore
package import Entitlements

/// Keeps what evidence says of lines.
package protocol FactStore {
  /// Remembers what a signed transaction says. Of two documents about one transaction the one that
  /// supersedes the other stays, whichever came first.
  ///
  /// - Returns: whether anything changed.
  func put(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool

  /// Remembers what a signed renewal info says; see ``put(_:of:from:)-(TransactionFact,_,_)``.
  func put(_ fact: RenewalFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError) -> Bool

  /// Remembers what a signed app transaction says; see ``put(_:of:from:)-(TransactionFact,_,_)``.
  func put(
    _ fact: AppTransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool

  /// Remembers what the operator gave; `key` finds it again, and only a new grant may bring one that is new.
  func put(
    _ fact: GrantFact, of line: LineKey, key: String, from evidence: EvidenceID
  ) throws(StoreError)

  /// The line of the grant that was given with an idempotency key; `nil` if none was.
  func grant(
    withKey key: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> LineKey?

  /// The line of a grant, in whichever environment it is; `nil` if there is none.
  func grant(_ id: String, of appID: String) throws(StoreError) -> LineKey?

  /// All facts about one line.
  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts
}
