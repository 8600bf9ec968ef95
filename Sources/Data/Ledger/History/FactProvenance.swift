internal import AppStore
package import Entitlements
package import Store

/// Finds the evidence that facts of one customer are from.
///
/// It reads all evidence of a line, once; that is for the call that explains an answer, not for the one that
/// gives it.
package struct FactProvenance {
  private struct Statement {
    let evidence: EvidenceID
    let facts: CustomerFacts
  }

  private let customer: CustomerKey
  private let reader: any StoreSnapshot
  private var statements: [LineKey: [Statement]] = [:]

  /// The sources of what is known of `customer`.
  package init(of customer: CustomerKey, in reader: any StoreSnapshot) {
    self.customer = customer
    self.reader = reader
  }

  /// The first evidence that said exactly this; `nil` if it was not kept whole. Of a seat, whose facts follow
  /// from those of the purchase, the evidence of its claim.
  package mutating func evidence(stating fact: AnyFact) throws(StoreError) -> EvidenceID? {
    let line = customer.line(fact.lineID)
    if line.isSeat { return try statements(about: line).first?.evidence }
    return try statements(about: line).first { $0.facts.contains(fact) }?.evidence
  }

  private mutating func statements(about line: LineKey) throws(StoreError) -> [Statement] {
    if let known = statements[line] { return known }
    let found = try reader.evidence(about: line).map { stored in
      var facts = CustomerFacts()
      facts.take(DecodedEvidence(stored.evidence), about: line)
      return Statement(evidence: stored.id, facts: facts)
    }
    statements[line] = found
    return found
  }
}

extension AnyFact {
  /// The number of the line that it is about.
  fileprivate var lineID: String {
    switch self {
    case .transaction(let fact): fact.originalTransactionID
    case .renewal(let fact): fact.originalTransactionID
    case .grant(let fact): fact.grantID
    case .appTransaction(let fact): fact.lineID
    }
  }
}
