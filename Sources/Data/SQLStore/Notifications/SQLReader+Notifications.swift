internal import AppStore
internal import Store

// Reads of notifications.
extension SQLReader {
  func notifications(_ query: NotificationFilter) throws(StoreError) -> [NotificationRecord] {
    // A condition on the customer that could be NULL would make SQLite read the whole table.
    let ofCustomer =
      query.customerID == nil
      ? ""
      : """
      AND evidence_id IN (
        SELECT e.evidence_id FROM line_customer l JOIN line_evidence e USING (line_id, app, environment)
        WHERE l.customer_id = ?8 AND l.app = ?1
        UNION SELECT n.evidence_id FROM line_customer l JOIN notification n USING (line_id, app, environment)
        WHERE l.customer_id = ?8 AND l.app = ?1 AND n.version = 1)
      """
    // Few had no effect, and have an index.
    let isRare = query.state.map { ![.applied, .superseded].contains($0) } ?? false
    let ofState =
      isRare ? "state = ?4 AND state NOT IN ('APPLIED', 'SUPERSEDED')" : "coalesce(state = ?4, TRUE)"
    return try notifications(
      """
      app = ?1 AND coalesce(environment = ?2, TRUE) AND coalesce(type = ?3, TRUE) AND \(ofState)
      AND coalesce(received_at >= ?5, TRUE) AND coalesce(received_at < ?6, TRUE) AND evidence_id < ?7
      \(ofCustomer) ORDER BY evidence_id DESC LIMIT ?9
      """, query.appID, query.environment, query.type, query.state?.rawValue, query.from, query.to,
      query.before ?? EvidenceID(rawValue: .max), query.customerID, query.limit)
  }

  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord? {
    try notifications("evidence_id = ?", evidence).first
  }

  func notifications(
    of appID: String, after evidence: EvidenceID, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    try notifications("evidence_id > ? AND app = ? ORDER BY evidence_id LIMIT ?", evidence, appID, limit)
  }

  func lastNotification() throws(StoreError) -> Int64 {
    try rows("SELECT coalesce(max(evidence_id), 0) FROM notification") { $0.number(0) }.first ?? 0
  }

  func notifiedLines(
    of appID: String, in environment: Environment, from start: Instant, to end: Instant,
    after line: String, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT DISTINCT line_id FROM notification
      WHERE line_id > ? AND line_id <> '' AND app = ? AND environment = ?
        AND received_at >= ? AND received_at < ? AND state <> 'REJECTED'
      ORDER BY line_id LIMIT ?
      """, line, appID, environment, start, end, limit
    ) { row in LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? "") }
  }

  func notifications(
    about line: LineKey, from start: Instant, to end: Instant, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    try notifications(
      """
      \(NotificationRows.isAboutLine)
      AND received_at >= ?4 AND received_at < ?5 AND state <> 'REJECTED' ORDER BY evidence_id LIMIT ?6
      """, line, start, end, limit)
  }

  func notifications(withUUID uuid: String) throws(StoreError) -> [NotificationRecord] {
    try notifications("uuid = ? AND uuid <> '' AND state <> 'REJECTED'", uuid)
  }
}

// Rare reads of notifications in a write.
extension SQLTransaction {
  func notifications(
    about line: LineKey, ofTypes types: [String]
  ) throws(StoreError) -> [NotificationRecord] {
    try notifications("\(NotificationRows.isAboutLine) AND version = 2 ORDER BY evidence_id", line)
      .filter { types.contains($0.type) && $0.state != .rejected }
  }
}

extension NotificationRows {
  /// The condition for the notifications about a purchase, whose key is the first three values. The index of evidence by
  /// purchase finds those of version 2, so that their table needs none.
  static let isAboutLine = """
    line_id = ?1 AND evidence_id IN (
      SELECT evidence_id FROM line_evidence WHERE line_id = ?1 AND app = ?2 AND environment = ?3
      UNION SELECT evidence_id FROM notification
      WHERE line_id = ?1 AND app = ?2 AND environment = ?3 AND version = 1)
    """
}

extension SQLSession {
  /// Returns the notifications that match a condition.
  fileprivate func notifications(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [NotificationRecord] {
    try rows(
      "SELECT \(NotificationRows.columns) FROM notification WHERE \(condition)", binding: values,
      decode: NotificationRows.record)
  }
}
