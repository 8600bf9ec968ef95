internal import AppStore
package import Entitlements
package import Store

/// Finds the evidence that states a customer's facts.
///
/// It reads all evidence of a line once. That suits the call that explains an answer, not the one that
/// returns it.
package struct FactProvenance {
  /// The facts that one piece of evidence states about a line.
  private struct Statement {
    let evidence: EvidenceID
    let facts: CustomerFacts
  }

  private let customer: CustomerKey
  private let reader: any StoreSnapshot
  private var statements: [LineKey: [Statement]] = [:]

  /// Finds evidence of the facts of `customer`.
  package init(of customer: CustomerKey, in reader: any StoreSnapshot) {
    self.customer = customer
    self.reader = reader
  }

  /// Returns the first evidence that states `fact` exactly; `nil` if its body was purged. The fact of a seat,
  /// which follows from its purchase, has the evidence of the seat's claim.
  package mutating func evidence(stating fact: AnyFact) throws(StoreError) -> EvidenceID? {
    let line = customer.line(fact.lineID)
    if line.isSeat { return try statements(about: line).first?.evidence }
    return try statements(about: line).first { $0.facts.contains(fact) }?.evidence
  }

  /// Decodes all accepted evidence about a line, oldest first, once.
  private mutating func statements(about line: LineKey) throws(StoreError) -> [Statement] {
    if let known = statements[line] { return known }
    let found = try reader.evidence(about: line).map { stored in
      var facts = CustomerFacts()
      for item in EvidenceDecoder.decode(stored.evidence) { facts.apply(item, about: line) }
      return Statement(evidence: stored.id, facts: facts)
    }
    statements[line] = found
    return found
  }
}

extension AnyFact {
  /// The id of the line that stores it.
  fileprivate var lineID: String {
    switch self {
    case .transaction(let fact): fact.originalTransactionID
    case .renewal(let fact): fact.originalTransactionID
    case .grant(let fact): fact.grantID
    case .appTransaction(let fact): fact.lineID
    }
  }
}
