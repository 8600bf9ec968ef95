internal import Entitlements
internal import SQLite
internal import Store

/// Finds the evidence of one fact, without reading the fact.
final class EvidenceLookupRows {
  private let selectTransaction: Statement
  private let selectGrant: Statement
  private let selectClaim: Statement

  init(_ connection: Connection) throws(StoreError) {
    let ofLine = "original_transaction_id = ? AND app = ? AND environment = ?"
    selectTransaction = try Statement(
      "SELECT evidence_id FROM transaction_fact WHERE \(ofLine) AND transaction_id = ?", on: connection)
    selectGrant = try Statement("SELECT evidence_id FROM grant_fact WHERE \(ofLine)", on: connection)
    // What is told first of a seat is its claim.
    selectClaim = try Statement(
      "SELECT evidence_id FROM line_evidence WHERE \(ofLine) ORDER BY evidence_id LIMIT 1", on: connection)
  }

  func evidence(of fact: DecidingFact, of customer: CustomerKey) throws(StoreError) -> EvidenceID? {
    switch fact {
    case .transaction(let id, let number):
      let line = customer.line(number)
      guard !line.isSeat else { return try evidence(of: line, selectClaim) }
      try selectTransaction.bind(4, id)
      return try evidence(of: line, selectTransaction)
    case .grant(let id): return try evidence(of: customer.line(id), selectGrant)
    }
  }

  private func evidence(of line: LineKey, _ select: Statement) throws(StoreError) -> EvidenceID? {
    try select.bind(line)
    defer { select.reset() }
    return try select.step() ? EvidenceID(rawValue: select.number(0)) : nil
  }
}
