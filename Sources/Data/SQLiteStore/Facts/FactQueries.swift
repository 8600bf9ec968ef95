internal import AppStore
internal import Entitlements
internal import SQLite
internal import Store

/// Reads `transaction_fact` and `renewal_fact` by transaction, line, product or app install.
final class FactQueries {
  private let rows: FactRows
  private let selectByID: Statement
  private let selectShared: Statement
  private let selectOfInstall: Statement

  init(_ connection: Connection) throws(StoreError) {
    rows = try FactRows(connection)
    selectByID = try Statement(
      "SELECT fact FROM transaction_fact WHERE transaction_id = ? AND app = ? AND environment = ?",
      on: connection)
    selectShared = try Statement(
      """
      SELECT DISTINCT line_id FROM transaction_fact
      WHERE shared_at = ? AND product_id = ? AND app = ? AND environment = ? LIMIT ?
      """, on: connection)
    selectOfInstall = try Statement(
      """
      SELECT line_id FROM app_install_line
      WHERE app_transaction_id = ? AND app = ? AND environment = ?
      """, on: connection)
  }

  func lines(
    ofAppInstall appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey] {
    try selectOfInstall.bind(1, appTransactionID)
    try selectOfInstall.bind(2, appID)
    try selectOfInstall.bind(3, environment.rawValue)
    return try lines(selectOfInstall, of: appID, in: environment)
  }

  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts { try rows.facts(of: line) }

  func transaction(
    _ id: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> TransactionFact? {
    try selectByID.bind(1, id)
    try selectByID.bind(2, appID)
    try selectByID.bind(3, environment.rawValue)
    defer { selectByID.reset() }
    return try selectByID.step() ? FactCoding.transaction(selectByID.bytes(0)) : nil
  }

  func lines(
    sharing productID: String, at instant: Instant, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try selectShared.bind(1, instant.millisecondsSince1970)
    try selectShared.bind(2, productID)
    try selectShared.bind(3, appID)
    try selectShared.bind(4, environment.rawValue)
    try selectShared.bind(5, Int64(limit))
    return try lines(selectShared, of: appID, in: environment)
  }

  /// Returns the lines whose ids a statement selects.
  private func lines(
    _ select: Statement, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey] {
    defer { select.reset() }
    var lines: [LineKey] = []
    while try select.step() {
      lines.append(
        LineKey(appID: appID, environment: environment, lineID: select.text(0) ?? ""))
    }
    return lines
  }
}
