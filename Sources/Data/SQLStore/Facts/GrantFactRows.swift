internal import AppStore
internal import Entitlements
internal import Store

/// Reads and writes `grant_fact` and `app_transaction_fact`: facts of a customer other than purchases.
final class GrantFactRows {
  /// The stored grant of a line.
  let ofLine: KeyedRead<LineKey, GrantFact?>
  private let selectAppTransaction: any SQLStatement
  private let putGrant: any SQLStatement
  private let putAppTransaction: any SQLStatement
  private let deleteGrant: any SQLStatement
  private let selectByID: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let condition = "line_id = ? AND app = ? AND environment = ?"
    let line = "line_id, app, environment"
    ofLine = try KeyedRead(
      "SELECT fact FROM grant_fact WHERE \(condition)", on: connection, in: workspace
    ) { _, row throws(StoreError) in try row.step() ? FactCoding.grant(row.bytes(0)) : nil }
    selectAppTransaction = try connection.prepare(
      "SELECT fact FROM app_transaction_fact WHERE \(condition)")
    putGrant = try connection.prepare(
      """
      INSERT INTO grant_fact (\(line), fact, source, external_id, evidence_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      ON CONFLICT (\(line)) DO UPDATE SET
        fact = excluded.fact, source = excluded.source, external_id = excluded.external_id,
        evidence_id = CASE ?8 WHEN 1 THEN excluded.evidence_id ELSE grant_fact.evidence_id END
      """)
    putAppTransaction = try connection.prepare(
      """
      INSERT INTO app_transaction_fact (\(line), fact, evidence_id) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (\(line)) DO UPDATE SET
        fact = excluded.fact,
        evidence_id = CASE ?6 WHEN 1 THEN excluded.evidence_id ELSE app_transaction_fact.evidence_id END
      """)
    deleteGrant = try connection.prepare("DELETE FROM grant_fact WHERE \(condition)")
    selectByID = try connection.prepare(
      "SELECT environment FROM grant_fact WHERE line_id = ? AND app = ?")
  }

  /// Inserts the app transaction of a line, or merges it with the other ones. The row has the evidence of the newest one.
  func put(_ fact: AppTransactionFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError) -> Bool
  {
    let known = try appTransaction(of: line)
    let merged = known.map(fact.merged) ?? fact
    guard merged != known else { return false }
    try putAppTransaction.bind(line)
    try putAppTransaction.bind(4, FactCoding.encode(merged))
    try putAppTransaction.bind(5, evidence.rawValue)
    try putAppTransaction.bind(6, merged.isStated(by: fact) ? Int64(1) : 0)
    try putAppTransaction.run()
    return true
  }

  /// Inserts a grant, or merges it with its other states. The row has the evidence of the newest one.
  func put(_ fact: GrantFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError) {
    let known = try ofLine(line)
    let merged = known.map(fact.merged) ?? fact
    guard merged != known else { return }
    try putGrant.bind(line)
    try putGrant.bind(4, FactCoding.encode(merged))
    try putGrant.bind(5, fact.external?.source ?? "")
    try putGrant.bind(6, fact.external?.externalID ?? "")
    try putGrant.bind(7, evidence.rawValue)
    try putGrant.bind(8, merged.current == fact.current ? Int64(1) : 0)
    try putGrant.run()
    ofLine.keep(merged, of: line)
  }

  /// Deletes the grant. Its evidence stays.
  func delete(grant line: LineKey) throws(StoreError) {
    try deleteGrant.bind(line)
    try deleteGrant.run()
    ofLine.discard(line)
  }

  func grant(_ id: String, of appID: String) throws(StoreError) -> LineKey? {
    try selectByID.bind(1, id)
    try selectByID.bind(2, appID)
    defer { selectByID.reset() }
    guard try selectByID.step(), let environment = selectByID.text(0).flatMap(Environment.init(rawValue:))
    else { return nil }
    return LineKey(appID: appID, environment: environment, lineID: id)
  }

  /// Returns the facts of a line, whether it is a grant or an app install.
  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts {
    line.isGrant
      ? CustomerFacts(grants: try ofLine(line).map { [$0] } ?? [])
      : CustomerFacts(appTransactions: try appTransaction(of: line).map { [$0] } ?? [])
  }

  /// The stored app transaction of a line.
  private func appTransaction(of line: LineKey) throws(StoreError) -> AppTransactionFact? {
    try selectAppTransaction.bind(line)
    defer { selectAppTransaction.reset() }
    guard try selectAppTransaction.step() else { return nil }
    return try FactCoding.appTransaction(selectAppTransaction.bytes(0))
  }
}
