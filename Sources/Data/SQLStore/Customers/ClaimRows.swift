internal import AppStore
internal import Store

/// Reads and writes `unclaimed_line`, `account_token` and `merged_customer`: the claim queue, and the rows
/// that identify an owner.
final class ClaimRows {
  private let insertLine: any SQLStatement
  private let deleteLine: any SQLStatement
  private let selectLines: any SQLStatement
  private let selectToken: any SQLStatement
  private let insertToken: any SQLStatement
  private let selectMergeTarget: any SQLStatement
  private let putMergeTarget: any SQLStatement
  private let deleteMergeTarget: any SQLStatement

  init(_ connection: any SQLConnection) throws(StoreError) {
    let ofCustomer = "customer_id = ? AND app = ? AND environment = ?"
    insertLine = try connection.prepare(
      """
      INSERT INTO unclaimed_line (line_id, app, environment, token)
      VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
      """)
    deleteLine = try connection.prepare(
      "DELETE FROM unclaimed_line WHERE line_id = ? AND app = ? AND environment = ?")
    selectLines = try connection.prepare(
      """
      SELECT line_id FROM unclaimed_line
      WHERE token = ? AND app = ? AND environment = ? AND token <> ''
      """)
    selectToken = try connection.prepare(
      "SELECT customer_id FROM account_token WHERE token = ? AND app = ? AND environment = ?")
    insertToken = try connection.prepare(
      """
      INSERT INTO account_token (token, app, environment, customer_id)
      VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
      """)
    selectMergeTarget = try connection.prepare(
      "SELECT into_customer_id FROM merged_customer WHERE \(ofCustomer)")
    putMergeTarget = try connection.prepare(
      Upsert.sql(
        "merged_customer", key: "customer_id, app, environment",
        "customer_id, app, environment, into_customer_id"))
    deleteMergeTarget = try connection.prepare("DELETE FROM merged_customer WHERE \(ofCustomer)")
  }

  /// Inserts the line unless it is queued. A missing token is stored as an empty text, which no lookup
  /// matches.
  func enqueue(_ line: LineKey, token: String?) throws(StoreError) {
    try insertLine.bind(line)
    try insertLine.bind(4, token ?? "")
    try insertLine.run()
  }

  /// Deletes the line, if it is queued.
  func dequeue(_ line: LineKey) throws(StoreError) {
    try deleteLine.bind(line)
    try deleteLine.run()
  }

  func unclaimedLines(
    withToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey] {
    try selectLines.bind(token: token, appID, environment)
    defer { selectLines.reset() }
    var lines: [LineKey] = []
    while try selectLines.step() {
      lines.append(
        LineKey(
          appID: appID, environment: environment, lineID: selectLines.text(0) ?? ""))
    }
    return lines
  }

  func customerID(
    ofToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> String? {
    try selectToken.bind(token: token, appID, environment)
    defer { selectToken.reset() }
    return try selectToken.step() ? selectToken.text(0) : nil
  }

  /// Stores the customer of a token. The first one stays, because Apple repeats the token in every
  /// transaction.
  func register(token: String, for customer: CustomerKey) throws(StoreError) {
    try insertToken.bind(token: token, customer.appID, customer.environment)
    try insertToken.bind(4, customer.customerID)
    try insertToken.run()
  }

  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> String? {
    try selectMergeTarget.bind(customer)
    defer { selectMergeTarget.reset() }
    return try selectMergeTarget.step() ? selectMergeTarget.text(0) : nil
  }

  /// Replaces the merge target, or deletes it for `nil`.
  func setMergeTarget(_ mergeTarget: String?, of customer: CustomerKey) throws(StoreError) {
    guard let mergeTarget else {
      try deleteMergeTarget.bind(customer)
      return try deleteMergeTarget.run()
    }
    try putMergeTarget.bind(customer)
    try putMergeTarget.bind(4, mergeTarget)
    try putMergeTarget.run()
  }
}

extension SQLStatement {
  fileprivate func bind(
    token: String, _ appID: String, _ environment: Environment
  ) throws(StoreError) {
    try bind(1, token)
    try bind(2, appID)
    try bind(3, environment.rawValue)
  }
}

extension SQLReader {
  func unclaimedLines(
    of appID: String, in environment: Environment, after line: String?, limit: Int
  ) throws(StoreError) -> [UnclaimedLine] {
    try rows(
      """
      SELECT u.line_id, max(t.evidence_id)
      FROM unclaimed_line u JOIN transaction_fact t USING (line_id, app, environment)
      WHERE u.app = ? AND u.environment = ? AND u.line_id > ? GROUP BY u.line_id ORDER BY u.line_id LIMIT ?
      """, appID, environment, line ?? "", limit
    ) { row in
      UnclaimedLine(
        line: LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? ""),
        latest: EvidenceID(rawValue: row.number(1)))
    }
  }
}
