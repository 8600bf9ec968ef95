internal import AppStore
internal import Entitlements
internal import Store

private let columns = """
  request_id, line_id, app, environment, product_id, renewal_product_id, locale, asked_at, received_at, answer,
  reason, rule, message_id, offered_product_id, offer_id, microseconds, outcome, evaluated_at, due_at
  """

extension SQLSession {
  /// Returns the requests that match a condition.
  fileprivate func retentionRequests(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [RetentionRequestRecord] {
    try rows(
      "SELECT \(columns) FROM retention_request WHERE \(condition)", binding: values
    ) { row throws(StoreError) in
      let line = LineKey(
        appID: row.text(2) ?? "", environment: try row.value(3), lineID: row.text(1) ?? "")
      var request = RetentionRequestRecord(
        requestID: row.text(0) ?? "", line: line, productID: row.text(4) ?? "",
        askedAt: Instant(millisecondsSince1970: row.number(7)),
        receivedAt: Instant(millisecondsSince1970: row.number(8)))
      request.renewalProductID = row.text(5) ?? ""
      request.locale = row.text(6) ?? ""
      request.answer = try row.value(9)
      request.reason = try row.value(10)
      request.rule = row.text(11) ?? ""
      request.messageID = row.text(12) ?? ""
      request.offeredProductID = row.text(13) ?? ""
      request.offerID = row.text(14) ?? ""
      request.microseconds = row.number(15)
      request.outcome = try row.value(16)
      request.evaluatedAt = row.instant(17)
      request.dueAt = row.instant(18)
      return request
    }
  }
}

// Reads of requests for retention messages.
extension SQLReader {
  func retentionRequests(
    _ query: RetentionRequestFilter
  ) throws(StoreError) -> [RetentionRequestRecord] {
    let after = query.after
    return try retentionRequests(
      """
      app = ?1 AND coalesce(environment = ?2, TRUE) AND coalesce(outcome = ?3, TRUE) AND coalesce(line_id = ?4, TRUE)
      AND coalesce(received_at >= ?5, TRUE) AND coalesce(received_at < ?6, TRUE) AND (received_at, request_id) < (?7, ?8)
      ORDER BY received_at DESC, request_id DESC LIMIT ?9
      """, query.appID, query.environment, query.outcome?.rawValue, query.lineID, query.from, query.to,
      after?.time ?? .distantFuture, after?.id ?? "", query.limit)
  }

  func retentionRequestCounts(
    of appID: String, in environment: Environment?, from: Instant?, to: Instant?
  ) throws(StoreError) -> [RetentionRequestCount] {
    try rows(
      """
      SELECT rule, reason, answer, message_id, offered_product_id, offer_id, outcome, count(*)
      FROM retention_request
      WHERE app = ?1 AND coalesce(environment = ?2, TRUE) AND coalesce(received_at >= ?3, TRUE)
        AND coalesce(received_at < ?4, TRUE)
      GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
      """, appID, environment, from, to
    ) { row throws(StoreError) in
      RetentionRequestCount(
        rule: row.text(0) ?? "", reason: try row.value(1), answer: try row.value(2),
        messageID: row.text(3) ?? "", offeredProductID: row.text(4) ?? "", offerID: row.text(5) ?? "",
        outcome: try row.value(6), count: row.number(7))
    }
  }

  func retentionRequests(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [RetentionRequestRecord] {
    try retentionRequests(
      "due_at IS NOT NULL AND due_at <= ? AND \(domain.condition) ORDER BY due_at LIMIT ?", instant, limit)
  }

  func nextRetentionRequest(in domain: ClockDomain) throws(StoreError) -> Instant? {
    try earliest(in: "retention_request", where: domain.condition)
  }

  func hasOpenRefundRequest(about line: LineKey, since instant: Instant) throws(StoreError) -> Bool {
    try rows(
      """
      SELECT 1 FROM consumption_request
      WHERE app = ?2 AND environment = ?3
        AND (state = 'OPEN' OR (state <> 'DECIDED' AND requested_at >= ?4))
        AND line_id IN (
          SELECT ?1 UNION
          SELECT other.line_id FROM line_customer own JOIN line_customer other
            ON other.customer_id = own.customer_id AND other.app = own.app AND other.environment = own.environment
          WHERE own.line_id = ?1 AND own.app = ?2 AND own.environment = ?3)
      LIMIT 1
      """, line, instant
    ) { $0.number(0) }.first != nil
  }
}

// Requests for retention messages in a write.
extension SQLTransaction {
  func insert(_ request: RetentionRequestRecord) throws(StoreError) {
    try run(
      """
      INSERT INTO retention_request (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING
      """, request.requestID, request.line, request.productID, request.renewalProductID, request.locale,
      request.askedAt, request.receivedAt, request.answer.rawValue, request.reason.rawValue, request.rule,
      request.messageID, request.offeredProductID, request.offerID, request.microseconds,
      request.outcome.rawValue, request.evaluatedAt, request.dueAt)
  }

  func updateOutcome(of request: RetentionRequestRecord) throws(StoreError) {
    try run(
      """
      UPDATE retention_request SET outcome = ?, evaluated_at = ?, due_at = ?
      WHERE request_id = ? AND app = ? AND environment = ?
      """, request.outcome.rawValue, request.evaluatedAt, request.dueAt, request.requestID,
      request.line.appID, request.line.environment)
  }

  func deleteRetentionRequests(
    in domain: ClockDomain, receivedBefore instant: Instant, limit: Int
  ) throws(StoreError) -> Int {
    let found = try retentionRequests(
      "received_at < ? AND due_at IS NULL AND \(domain.condition) ORDER BY received_at LIMIT ?", instant,
      limit)
    for request in found {
      try run(
        "DELETE FROM retention_request WHERE request_id = ? AND app = ? AND environment = ?",
        request.requestID, request.line.appID, request.line.environment)
    }
    return found.count
  }
}
