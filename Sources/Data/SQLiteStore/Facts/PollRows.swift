internal import AppStore
internal import SQLite
internal import Store

/// Reads and writes the next status poll of each line: the `line_record` rows of the view `poll`.
final class PollRows {
  private let connection: Connection
  private let select: Statement
  private let insert: Statement
  private let move: Statement
  private let delete: Statement
  private let record: Statement

  init(_ connection: Connection) throws(StoreError) {
    self.connection = connection
    let line = "line_id, app, environment"
    let ofLine = "line_id = ?1 AND app = ?2 AND environment = ?3"
    select = try Statement("SELECT at, polled_at FROM poll WHERE \(ofLine)", on: connection)
    let row = "\(ofLine) AND kind = \(LineRecordKind.poll) AND id = ''"
    insert = try Statement(
      "INSERT INTO line_record (\(line), kind, id, at) VALUES (?, ?, ?, \(LineRecordKind.poll), '', ?)",
      on: connection)
    move = try Statement("UPDATE line_record SET at = ?4 WHERE \(row)", on: connection)
    delete = try Statement("DELETE FROM line_record WHERE \(row)", on: connection)
    record = try Statement("UPDATE line_record SET polled_at = ?4 WHERE \(row)", on: connection)
  }

  func lastPoll(of line: LineKey) throws(StoreError) -> Instant? { try row(of: line)?.polledAt }

  /// Writes nothing if the schedule is unchanged, as it is for most facts.
  func schedule(_ line: LineKey, at instant: Instant?) throws(StoreError) {
    try schedule(line, at: instant, known: try row(of: line))
  }

  func reschedule(_ line: LineKey, _ next: (Instant?) -> Instant?) throws(StoreError) {
    let known = try row(of: line)
    try schedule(line, at: next(known?.polledAt), known: known)
  }

  private func schedule(_ line: LineKey, at instant: Instant?, known: Row?) throws(StoreError) {
    guard known?.at != instant else { return }
    let change = instant == nil ? delete : known == nil ? insert : move
    try change.bind(line)
    if let instant { try change.bind(4, instant.millisecondsSince1970) }
    try change.run()
  }

  func record(_ line: LineKey, at instant: Instant) throws(StoreError) -> Bool {
    try record.bind(line)
    try record.bind(4, instant.millisecondsSince1970)
    try record.run()
    return connection.changedRows > 0
  }

  private typealias Row = (at: Instant, polledAt: Instant?)

  private func row(of line: LineKey) throws(StoreError) -> Row? {
    try select.bind(line)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return (Instant(millisecondsSince1970: select.number(0)), select.instant(1))
  }
}

/// Reads the poll schedule of one app environment. Prepares its statements on each call, because calls are
/// rare.
struct PollQueries {
  private let connection: Connection
  private let appID: String
  private let environment: Environment

  init(_ connection: Connection, of appID: String, in environment: Environment) {
    self.connection = connection
    self.appID = appID
    self.environment = environment
  }

  func due(by instant: Instant, limit: Int) throws(StoreError) -> [LineKey] {
    let select = try statement("line_id", "at <= ? ORDER BY at LIMIT ?")
    try select.bind(3, instant.millisecondsSince1970)
    try select.bind(4, Int64(limit))
    defer { select.reset() }
    var lines: [LineKey] = []
    while try select.step() {
      lines.append(
        LineKey(appID: appID, environment: environment, lineID: select.text(0) ?? ""))
    }
    return lines
  }

  func next() throws(StoreError) -> Instant? {
    let select = try statement("min(at)", "TRUE")
    defer { select.reset() }
    return try select.step() ? select.instant(0) : nil
  }

  func backlog(by instant: Instant) throws(StoreError) -> Int64 {
    let select = try statement("count(*)", "at <= ?")
    try select.bind(3, instant.millisecondsSince1970)
    defer { select.reset() }
    return try select.step() ? select.number(0) : 0
  }

  private func statement(_ columns: String, _ condition: String) throws(StoreError) -> Statement {
    let select = try Statement(
      "SELECT \(columns) FROM poll WHERE app = ? AND environment = ? AND \(condition)", on: connection)
    try select.bind(1, appID)
    try select.bind(2, environment.rawValue)
    return select
  }
}
