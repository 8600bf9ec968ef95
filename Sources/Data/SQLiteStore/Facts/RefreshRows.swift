internal import AppStore
internal import SQLite
internal import Store

/// Reads and writes `refresh`: the pending calls to Apple about single lines, and the time of the last call.
final class RefreshRows {
  private let put: Statement
  private let settle: Statement
  private let selectDue: Statement
  private let selectLast: Statement

  init(_ connection: Connection) throws(StoreError) {
    put = try Statement(
      """
      INSERT INTO refresh (original_transaction_id, app, environment, due_at, attempts, reason)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET
        due_at = excluded.due_at, attempts = excluded.attempts, reason = excluded.reason
      """, on: connection)
    settle = try Statement(
      """
      INSERT INTO refresh (original_transaction_id, app, environment, asked_at, attempts, reason)
      VALUES (?, ?, ?, ?, 0, '')
      ON CONFLICT DO UPDATE SET asked_at = excluded.asked_at, due_at = NULL, attempts = 0, reason = ''
      """, on: connection)
    selectDue = try Statement(
      """
      SELECT original_transaction_id, app, environment, due_at, attempts, reason FROM refresh
      WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?
      """, on: connection)
    selectLast = try Statement(Self.last, on: connection)
  }

  func put(_ refresh: PendingRefresh) throws(StoreError) {
    try put.bind(refresh.line)
    try put.bind(4, refresh.dueAt.millisecondsSince1970)
    try put.bind(5, Int64(refresh.attempts))
    try put.bind(6, refresh.reason)
    try put.run()
  }

  func settle(_ line: LineKey, at moment: Instant) throws(StoreError) {
    try settle.bind(line)
    try settle.bind(4, moment.millisecondsSince1970)
    try settle.run()
  }

  func due(by moment: Instant, limit: Int) throws(StoreError) -> [PendingRefresh] {
    try selectDue.bind(1, moment.millisecondsSince1970)
    try selectDue.bind(2, Int64(limit))
    defer { selectDue.reset() }
    var refreshes: [PendingRefresh] = []
    while try selectDue.step() {
      guard let environment = selectDue.text(2).flatMap(Environment.init(rawValue:)) else {
        throw .corrupt("a refresh has an environment that is not known")
      }
      let line = LineKey(
        appID: selectDue.text(1) ?? "", environment: environment,
        lineID: selectDue.text(0) ?? "")
      refreshes.append(
        PendingRefresh(
          line: line, dueAt: Instant(millisecondsSince1970: selectDue.number(3)),
          attempts: Int(selectDue.number(4)), reason: selectDue.text(5) ?? ""))
    }
    return refreshes
  }

  func last(of line: LineKey) throws(StoreError) -> Instant? { try Self.last(of: line, selectLast) }

  // A read that prepares its statement on each call, because calls are rare.

  static func last(of line: LineKey, _ connection: Connection) throws(StoreError) -> Instant? {
    try last(of: line, Statement(last, on: connection))
  }

  private static let last = """
    SELECT asked_at FROM refresh WHERE original_transaction_id = ? AND app = ? AND environment = ?
    """

  private static func last(of line: LineKey, _ select: Statement) throws(StoreError) -> Instant? {
    try select.bind(line)
    defer { select.reset() }
    guard try select.step(), !select.isNull(0) else { return nil }
    return Instant(millisecondsSince1970: select.number(0))
  }
}
