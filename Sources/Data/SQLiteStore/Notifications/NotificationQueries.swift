internal import AppStore
internal import SQLite
internal import Store

/// Reads `notification` in order of arrival. Prepares its statements on each call, because calls are rare.
struct NotificationQueries {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func arrivals(
    of appID: String, after evidence: EvidenceID, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    let select = try Statement(
      """
      SELECT \(NotificationRows.columns) FROM notification
      WHERE evidence_id > ? AND app = ? ORDER BY evidence_id LIMIT ?
      """, on: connection)
    try select.bind(1, evidence.rawValue)
    try select.bind(2, appID)
    try select.bind(3, Int64(limit))
    return try all(select)
  }

  func lines(
    of appID: String, in environment: Environment, from start: Instant, to end: Instant,
    after line: String, limit: Int
  ) throws(StoreError) -> [LineKey] {
    let select = try Statement(
      """
      SELECT DISTINCT line_id FROM notification
      WHERE line_id > ? AND line_id <> '' AND app = ? AND environment = ?
        AND received_at >= ? AND received_at < ? AND state <> 'REJECTED'
      ORDER BY line_id LIMIT ?
      """, on: connection)
    try select.bind(LineKey(appID: appID, environment: environment, lineID: line))
    try select.bind(4, start.millisecondsSince1970)
    try select.bind(5, end.millisecondsSince1970)
    try select.bind(6, Int64(limit))
    defer { select.reset() }
    var lines: [LineKey] = []
    while try select.step() {
      lines.append(
        LineKey(appID: appID, environment: environment, lineID: select.text(0) ?? ""))
    }
    return lines
  }

  func about(
    _ line: LineKey, from start: Instant, to end: Instant, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    let select = try Statement(
      """
      SELECT \(NotificationRows.columns) FROM notification
      WHERE line_id = ? AND line_id <> '' AND app = ? AND environment = ?
        AND received_at >= ? AND received_at < ? AND state <> 'REJECTED'
      ORDER BY evidence_id LIMIT ?
      """, on: connection)
    try select.bind(line)
    try select.bind(4, start.millisecondsSince1970)
    try select.bind(5, end.millisecondsSince1970)
    try select.bind(6, Int64(limit))
    return try all(select)
  }

  private func all(_ select: Statement) throws(StoreError) -> [NotificationRecord] {
    defer { select.reset() }
    var found: [NotificationRecord] = []
    while try select.step() { found.append(try NotificationRows.record(select)) }
    return found
  }
}
