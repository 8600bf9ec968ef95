internal import AppStore
internal import SQLite
internal import Store

/// Writes `refresh`: the pending calls to Apple about single lines, and the time of the last call.
final class RefreshRows {
  private let put: Statement
  private let settle: Statement

  init(_ connection: Connection) throws(StoreError) {
    put = try Statement(
      """
      INSERT INTO refresh (line_id, app, environment, due_at, attempts, reason)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET
        due_at = excluded.due_at, attempts = excluded.attempts, reason = excluded.reason
      """, on: connection)
    settle = try Statement(
      """
      INSERT INTO refresh (line_id, app, environment, queried_at, attempts, reason)
      VALUES (?, ?, ?, ?, 0, '')
      ON CONFLICT DO UPDATE SET queried_at = excluded.queried_at, due_at = NULL, attempts = 0, reason = ''
      """, on: connection)
  }

  func put(_ refresh: PendingRefresh) throws(StoreError) {
    try put.bind(refresh.line)
    try put.bind(4, refresh.dueAt.millisecondsSince1970)
    try put.bind(5, Int64(refresh.attempts))
    try put.bind(6, refresh.reason)
    try put.run()
  }

  func settle(_ line: LineKey, at instant: Instant) throws(StoreError) {
    try settle.bind(line)
    try settle.bind(4, instant.millisecondsSince1970)
    try settle.run()
  }
}

/// Reads `refresh`. Prepares its statements on each call, because calls are rare.
struct RefreshQueries {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func due(by instant: Instant, limit: Int) throws(StoreError) -> [PendingRefresh] {
    let select = try Statement(
      """
      SELECT line_id, app, environment, due_at, attempts, reason FROM refresh
      WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?
      """, on: connection)
    try select.bind(1, instant.millisecondsSince1970)
    try select.bind(2, Int64(limit))
    defer { select.reset() }
    var refreshes: [PendingRefresh] = []
    while try select.step() {
      guard let environment = select.text(2).flatMap(Environment.init(rawValue:)) else {
        throw .corrupt("a refresh has an unknown environment")
      }
      let line = LineKey(appID: select.text(1) ?? "", environment: environment, lineID: select.text(0) ?? "")
      refreshes.append(
        PendingRefresh(
          line: line, dueAt: Instant(millisecondsSince1970: select.number(3)),
          attempts: Int(select.number(4)), reason: select.text(5) ?? ""))
    }
    return refreshes
  }

  func last(of line: LineKey) throws(StoreError) -> Instant? {
    let select = try Statement(
      "SELECT queried_at FROM refresh WHERE line_id = ? AND app = ? AND environment = ?",
      on: connection)
    try select.bind(line)
    defer { select.reset() }
    return try select.step() ? select.instant(0) : nil
  }
}
