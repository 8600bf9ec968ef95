internal import AppStore
internal import Entitlements
internal import SQLite
internal import Store

// Evidence, what it says, and whom it names.
extension SQLiteTransaction {
  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence {
    try self.evidence.append(evidence)
  }

  func appendNew(_ evidence: Evidence) throws(StoreError) -> EvidenceID {
    try self.evidence.appendNew(evidence)
  }

  func restore(_ evidence: StoredEvidence) throws(StoreError) { try self.evidence.restore(evidence) }

  func nextEvidenceID() throws(StoreError) -> EvidenceID { try evidence.nextID() }

  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence? { try evidence.evidence(id) }

  func relate(_ evidence: EvidenceID, to customer: CustomerKey) throws(StoreError) {
    try self.evidence.relate(evidence, to: customer)
  }

  func relate(_ evidence: EvidenceID, to line: LineKey) throws(StoreError) {
    try self.evidence.relate(evidence, to: line)
  }

  func put(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool {
    try self.fact.put(fact, of: line, from: evidence)
  }

  func put(_ fact: RenewalFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError) -> Bool {
    try self.fact.put(fact, of: line, from: evidence)
  }

  func put(
    _ fact: AppTransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool {
    try self.fact.other.put(fact, of: line, from: evidence)
  }

  func put(
    _ fact: GrantFact, of line: LineKey, key: String, from evidence: EvidenceID
  ) throws(StoreError) {
    try self.fact.other.put(fact, of: line, key: key, from: evidence)
  }

  func grant(
    withKey key: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> LineKey? {
    try fact.other.grant(withKey: key, of: appID, in: environment)
  }

  func grant(_ id: String, of appID: String) throws(StoreError) -> LineKey? {
    try fact.other.grant(id, of: appID)
  }

  func evidence(of fact: DecidingFact, of customer: CustomerKey) throws(StoreError) -> EvidenceID? {
    try deciding.evidence(of: fact, of: customer)
  }

  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts { try fact.facts(of: line) }
}
