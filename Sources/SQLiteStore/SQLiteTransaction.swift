internal import Entitlements
internal import Store

/// What one write does, on the writer's connection and inside its transaction.
final class SQLiteTransaction: StoreTransaction {
  private let evidence: EvidenceRows
  private let fact: FactRows
  private let lineOwner: LineOwnerRow
  private let customer: CustomerRow
  private let writeProbe: Statement
  private var changedCustomers: Set<CustomerKey> = []

  /// `hash` as in ``CustomerRow``.
  init(
    _ connection: Connection, hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash
  ) throws(StoreError) {
    evidence = try EvidenceRows(connection)
    fact = try FactRows(connection)
    lineOwner = try LineOwnerRow(connection)
    customer = try CustomerRow(connection, hash: hash)
    writeProbe = try Statement("UPDATE health_probe SET filler = randomblob(65536)", on: connection)
  }

  /// Writes something that nobody needs, to find out whether writing works: enough of it that a disk on
  /// which only a few bytes are free does not pass.
  func probe() throws(StoreError) { try writeProbe.run() }

  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence {
    try self.evidence.append(evidence)
  }

  func put(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool {
    try self.fact.put(fact, of: line, from: evidence)
  }

  func put(_ fact: RenewalFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError) -> Bool {
    try self.fact.put(fact, of: line, from: evidence)
  }

  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts { try fact.facts(of: line) }

  func owner(of line: LineKey) throws(StoreError) -> String? { try lineOwner.owner(of: line) }

  func link(
    _ line: LineKey, to customerID: String, from evidence: EvidenceID
  ) throws(StoreError) -> LinkOutcome {
    if let owner = try lineOwner.owner(of: line) {
      return owner == customerID ? .alreadyLinked : .ownedByAnother(customerID: owner)
    }
    try lineOwner.insert(line, customerID: customerID, from: evidence)
    return .linked
  }

  func facts(of customer: CustomerKey) throws(StoreError) -> CustomerFacts? {
    try self.customer.facts(of: customer)
  }

  func putFacts(
    _ facts: CustomerFacts, answers: CustomerAnswers, of customer: CustomerKey
  ) throws(StoreError) {
    try self.customer.put(facts, answers, of: customer)
    changedCustomers.insert(customer)
  }

  /// Those whose rows were written since this was last asked; some of it may have been rolled back.
  func takeChangedCustomers() -> Set<CustomerKey> {
    defer { changedCustomers.removeAll(keepingCapacity: true) }
    return changedCustomers
  }
}
