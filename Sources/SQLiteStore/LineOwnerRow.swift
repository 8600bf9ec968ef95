internal import AppStore
internal import Store

/// The rows of `line_owner`: to whom each purchase line belongs.
final class LineOwnerRow {
  private let select: Statement
  private let insert: Statement

  init(_ connection: Connection) throws(StoreError) {
    select = try Statement(
      """
      SELECT customer_id FROM line_owner
      WHERE original_transaction_id = ? AND app = ? AND environment = ?
      """, on: connection)
    insert = try Statement(
      """
      INSERT INTO line_owner (original_transaction_id, app, environment, customer_id, evidence_id)
      VALUES (?, ?, ?, ?, ?)
      """, on: connection)
  }

  func owner(of line: LineKey) throws(StoreError) -> String? {
    try select.bind(line)
    defer { select.reset() }
    return try select.step() ? select.text(0) : nil
  }

  func insert(_ line: LineKey, customerID: String, from evidence: EvidenceID) throws(StoreError) {
    try insert.bind(line)
    try insert.bind(4, customerID)
    try insert.bind(5, evidence.rawValue)
    try insert.run()
  }
}

extension Statement {
  /// A line's key as the first three parameters.
  func bind(_ line: LineKey) throws(StoreError) {
    try bind(1, line.originalTransactionID)
    try bind(2, line.appID)
    try bind(3, line.environment.rawValue)
  }
}
