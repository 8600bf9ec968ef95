internal import AppStore
internal import Store

// Writes of pending calls to Apple about single lines.
extension SQLTransaction {
  func put(_ refresh: PendingRefresh) throws(StoreError) {
    try run(
      """
      INSERT INTO refresh (line_id, app, environment, due_at, attempts, reason, revision)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (line_id, app, environment) DO UPDATE SET due_at = excluded.due_at,
        attempts = excluded.attempts, reason = excluded.reason, revision = excluded.revision
      """, refresh.line, refresh.dueAt, refresh.attempts, refresh.reason, refresh.revision)
  }

  func completeRefreshes(of lines: [LineKey], at instant: Instant) throws(StoreError) {
    for line in lines {
      try run(
        """
        INSERT INTO refresh (line_id, app, environment, queried_at, attempts, reason)
        VALUES (?, ?, ?, ?, 0, '')
        ON CONFLICT (line_id, app, environment) DO UPDATE SET
          queried_at = excluded.queried_at, due_at = NULL, attempts = 0, reason = '', revision = NULL
        """, line, instant)
    }
  }

  func hastenRefreshes(
    dueAfter limit: Instant, to instant: Instant, in domain: ClockDomain
  ) throws(StoreError) {
    try run("UPDATE refresh SET due_at = ? WHERE due_at > ? AND \(domain.condition)", instant, limit)
  }
}

// Reads of pending calls to Apple about single lines.
extension SQLReader {
  func refreshes(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [PendingRefresh] {
    try rows(
      """
      SELECT line_id, app, environment, due_at, attempts, reason, revision FROM refresh
      WHERE due_at IS NOT NULL AND due_at <= ? AND \(domain.condition) ORDER BY due_at LIMIT ?
      """, instant, limit
    ) { row throws(StoreError) in
      let line = LineKey(
        appID: row.text(1) ?? "", environment: try row.value(2), lineID: row.text(0) ?? "")
      return PendingRefresh(
        line: line, dueAt: Instant(millisecondsSince1970: row.number(3)), attempts: Int(row.number(4)),
        reason: row.text(5) ?? "", revision: row.text(6))
    }
  }

  func nextRefresh(in domain: ClockDomain) throws(StoreError) -> Instant? {
    try earliest(in: "refresh", where: domain.condition)
  }

  func lastRefresh(of line: LineKey) throws(StoreError) -> Instant? {
    try rows(
      "SELECT queried_at FROM refresh WHERE line_id = ? AND app = ? AND environment = ?", line
    ) { $0.instant(0) }.first ?? nil
  }
}
