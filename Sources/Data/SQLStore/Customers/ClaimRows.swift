internal import AppStore
internal import Store

/// Reads and writes `unclaimed_line`, `account_token` and `merged_customer`: the claim queue, and the rows
/// that identify an owner.
final class ClaimRows {
  private let insertLine: any SQLStatement
  private let deleteLine: any SQLStatement
  private let linesOfToken: KeyedRead<ScopedID, [LineKey]>
  private let linesOfPrevious: KeyedRead<ScopedID, [LineKey]>
  private let tokenCustomer: KeyedRead<ScopedID, String?>
  private let insertToken: any SQLStatement
  private let mergeTargets: KeyedRead<CustomerKey, String?>
  private let putMergeTarget: any SQLStatement
  private let deleteMergeTarget: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let ofCustomer = "customer_id = ? AND app = ? AND environment = ?"
    insertLine = try connection.prepare(
      """
      INSERT INTO unclaimed_line (line_id, app, environment, token, previous_line_id)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (app, environment, line_id) DO UPDATE SET
        token = CASE WHEN excluded.token = '' OR unclaimed_line.token = '\(erasedToken)'
          THEN unclaimed_line.token ELSE excluded.token END,
        previous_line_id = CASE WHEN unclaimed_line.previous_line_id = ''
          THEN excluded.previous_line_id ELSE unclaimed_line.previous_line_id END
      WHERE (excluded.token <> '' AND unclaimed_line.token NOT IN (excluded.token, '\(erasedToken)'))
        OR (excluded.previous_line_id <> '' AND unclaimed_line.previous_line_id = '')
      """)
    deleteLine = try connection.prepare(
      "DELETE FROM unclaimed_line WHERE line_id = ? AND app = ? AND environment = ?")
    func lines(by column: String) throws(StoreError) -> KeyedRead<ScopedID, [LineKey]> {
      try KeyedRead(
        """
        SELECT line_id FROM unclaimed_line
        WHERE \(column) = ? AND app = ? AND environment = ? AND \(column) <> ''
        """, on: connection, in: workspace
      ) { key, row throws(StoreError) in
        var lines: [LineKey] = []
        while try row.step() {
          lines.append(LineKey(appID: key.appID, environment: key.environment, lineID: row.text(0) ?? ""))
        }
        return lines
      }
    }
    linesOfToken = try lines(by: "token")
    linesOfPrevious = try lines(by: "previous_line_id")
    tokenCustomer = try KeyedRead(
      "SELECT customer_id FROM account_token WHERE token = ? AND app = ? AND environment = ?",
      on: connection, in: workspace
    ) { _, row throws(StoreError) in try row.step() ? row.text(0) : nil }
    insertToken = try connection.prepare(
      """
      INSERT INTO account_token (token, app, environment, customer_id)
      VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
      """)
    mergeTargets = try KeyedRead(
      "SELECT into_customer_id FROM merged_customer WHERE \(ofCustomer)", on: connection, in: workspace
    ) { _, row throws(StoreError) in try row.step() ? row.text(0) : nil }
    putMergeTarget = try connection.prepare(
      Upsert.sql(
        "merged_customer", key: "customer_id, app, environment",
        "customer_id, app, environment, into_customer_id"))
    deleteMergeTarget = try connection.prepare("DELETE FROM merged_customer WHERE \(ofCustomer)")
  }

  /// Inserts the line. If it is queued, its token is replaced, unless that is ``erasedToken``, and the line that it replaced
  /// is added. A missing value is stored as an empty text, which no lookup matches, and replaces nothing.
  func enqueue(_ line: LineKey, token: String?, replacing previous: LineKey?) throws(StoreError) {
    try insertLine.bind(line)
    try insertLine.bind(4, token ?? "")
    try insertLine.bind(5, previous?.lineID ?? "")
    try insertLine.run()
    if let token { linesOfToken.discard(ScopedID(token, of: line.appID, in: line.environment)) }
    if let previous { linesOfPrevious.discard(ScopedID(previous)) }
  }

  /// Deletes the line, if it is queued.
  func dequeue(_ line: LineKey) throws(StoreError) {
    try deleteLine.bind(line)
    try deleteLine.run()
  }

  func unclaimedLines(
    withToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey] {
    try queued(linesOfToken, ScopedID(token, of: appID, in: environment))
  }

  func unclaimedLines(replacing previous: LineKey) throws(StoreError) -> [LineKey] {
    try queued(linesOfPrevious, ScopedID(previous))
  }

  private func queued(
    _ read: KeyedRead<ScopedID, [LineKey]>, _ key: ScopedID
  ) throws(StoreError) -> [LineKey] {
    let lines = try read(key)
    // Lines leave the queue by their ids, so only an empty result stays right.
    if !lines.isEmpty { read.discard(key) }
    return lines
  }

  /// Expects the lines that replaced a line.
  func expectReplacements(of line: LineKey) throws(StoreError) {
    try linesOfPrevious.expect(ScopedID(line))
  }

  /// Expects the reads about a token: its customer, and the lines that wait for one.
  func expect(_ token: ScopedID) throws(StoreError) {
    try tokenCustomer.expect(token)
    try linesOfToken.expect(token)
  }

  /// Expects the reads about a customer: its merge target, and the lines whose token is its id.
  func expect(_ customer: CustomerKey) throws(StoreError) {
    try mergeTargets.expect(customer)
    try linesOfToken.expect(
      ScopedID(customer.customerID.lowercased(), of: customer.appID, in: customer.environment))
  }

  /// The customer of a token, if it was read.
  func knownCustomer(of token: ScopedID) -> CustomerKey? {
    guard let known = tokenCustomer.known(token), let id = known else { return nil }
    return CustomerKey(appID: token.appID, environment: token.environment, customerID: id)
  }

  func customerID(
    ofToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> String? {
    try tokenCustomer(ScopedID(token, of: appID, in: environment))
  }

  /// Stores the customer of a token. The first one stays, because Apple repeats the token in every
  /// transaction.
  func register(token: String, for customer: CustomerKey) throws(StoreError) {
    let key = ScopedID(token, of: customer.appID, in: customer.environment)
    _ = try key.bind(to: insertToken, at: 1)
    try insertToken.bind(4, customer.customerID)
    try insertToken.run()
    if tokenCustomer.known(key) == .some(nil) {
      tokenCustomer.keep(customer.customerID, of: key)
    } else {
      tokenCustomer.discard(key)
    }
  }

  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> String? {
    try mergeTargets(customer)
  }

  /// Replaces the merge target, or deletes it for `nil`.
  func setMergeTarget(_ mergeTarget: String?, of customer: CustomerKey) throws(StoreError) {
    mergeTargets.discard(customer)
    guard let mergeTarget else {
      try deleteMergeTarget.bind(customer)
      return try deleteMergeTarget.run()
    }
    try putMergeTarget.bind(customer)
    try putMergeTarget.bind(4, mergeTarget)
    try putMergeTarget.run()
  }
}

extension SQLReader {
  func unclaimedLines(
    of appID: String, in environment: Environment, after line: String?, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT u.line_id FROM unclaimed_line u
      WHERE u.app = ? AND u.environment = ? AND u.line_id > ? AND EXISTS (
        SELECT 1 FROM transaction_fact t
        WHERE t.line_id = u.line_id AND t.app = u.app AND t.environment = u.environment)
      ORDER BY u.line_id LIMIT ?
      """, appID, environment, line ?? "", limit
    ) { row in LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? "") }
  }
}

extension ScopedID {
  fileprivate init(_ line: LineKey) {
    self.init(line.lineID, of: line.appID, in: line.environment)
  }
}
