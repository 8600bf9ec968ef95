internal import AppStore
internal import Store

/// Reads and writes `unclaimed_line`, `account_token` and `merged_customer`: the claim queue, and the rows
/// that identify an owner.
final class ClaimRows {
  private let insertLine: any SQLStatement
  private let deleteLine: any SQLStatement
  private let linesOfToken: KeyedRead<ScopedID, [LineKey]>
  private let tokenCustomer: KeyedRead<ScopedID, String?>
  private let insertToken: any SQLStatement
  private let mergeTargets: KeyedRead<CustomerKey, String?>
  private let putMergeTarget: any SQLStatement
  private let deleteMergeTarget: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let ofCustomer = "customer_id = ? AND app = ? AND environment = ?"
    insertLine = try connection.prepare(
      """
      INSERT INTO unclaimed_line (line_id, app, environment, token)
      VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
      """)
    deleteLine = try connection.prepare(
      "DELETE FROM unclaimed_line WHERE line_id = ? AND app = ? AND environment = ?")
    linesOfToken = try KeyedRead(
      """
      SELECT line_id FROM unclaimed_line
      WHERE token = ? AND app = ? AND environment = ? AND token <> ''
      """, on: connection, in: workspace
    ) { key, row throws(StoreError) in
      var lines: [LineKey] = []
      while try row.step() {
        lines.append(LineKey(appID: key.appID, environment: key.environment, lineID: row.text(0) ?? ""))
      }
      return lines
    }
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

  /// Inserts the line unless it is queued. A missing token is stored as an empty text, which no lookup
  /// matches.
  func enqueue(_ line: LineKey, token: String?) throws(StoreError) {
    try insertLine.bind(line)
    try insertLine.bind(4, token ?? "")
    try insertLine.run()
    if let token { linesOfToken.forget(ScopedID(token, of: line.appID, in: line.environment)) }
  }

  /// Deletes the line, if it is queued.
  func dequeue(_ line: LineKey) throws(StoreError) {
    for row in [line, Self.replacement(line)] {
      try deleteLine.bind(row)
      try deleteLine.run()
    }
  }

  /// Inserts a second row of the line, which is found by the line that it replaced. There are no facts under
  /// its id, so lists of the queue leave it out.
  func enqueue(_ line: LineKey, replacing previous: LineKey) throws(StoreError) {
    try enqueue(Self.replacement(line), token: Self.token(of: previous).id)
  }

  func unclaimedLines(replacing previous: LineKey) throws(StoreError) -> [LineKey] {
    let token = Self.token(of: previous)
    return try unclaimedLines(withToken: token.id, of: token.appID, in: token.environment)
      .map { $0.other(String($0.lineID.dropLast(Self.replacementSuffix.count))) }
  }

  /// Expects the lines that replaced a line.
  func expectReplacements(of line: LineKey) throws(StoreError) {
    try linesOfToken.expect(Self.token(of: line))
  }

  private static let replacementSuffix = "\nreplacement"

  /// The key of the second row of a line that replaced another one.
  private static func replacement(_ line: LineKey) -> LineKey {
    line.other(line.lineID + replacementSuffix)
  }

  /// The token in the rows of the lines that replaced `previous`. No `appAccountToken` contains a line break.
  private static func token(of previous: LineKey) -> ScopedID {
    ScopedID("replaced\n\(previous.lineID)", of: previous.appID, in: previous.environment)
  }

  func unclaimedLines(
    withToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey] {
    let key = ScopedID(token, of: appID, in: environment)
    let lines = try linesOfToken(key)
    // Lines leave the queue by their ids, so only an empty result stays right.
    if !lines.isEmpty { linesOfToken.forget(key) }
    return lines
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
      tokenCustomer.forget(key)
    }
  }

  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> String? {
    try mergeTargets(customer)
  }

  /// Replaces the merge target, or deletes it for `nil`.
  func setMergeTarget(_ mergeTarget: String?, of customer: CustomerKey) throws(StoreError) {
    mergeTargets.forget(customer)
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
