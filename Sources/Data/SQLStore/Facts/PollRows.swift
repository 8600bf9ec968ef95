internal import AppStore
internal import Store

/// Reads and writes the next status poll of each line: the `line_record` rows of the view `poll`.
final class PollRows {
  private let select: any SQLStatement
  private let insert: any SQLStatement
  private let move: any SQLStatement
  private let delete: any SQLStatement
  private let record: any SQLStatement

  init(_ connection: any SQLConnection) throws(StoreError) {
    let line = "line_id, app, environment"
    let ofLine = "line_id = ?1 AND app = ?2 AND environment = ?3"
    select = try connection.prepare("SELECT at, polled_at FROM poll WHERE \(ofLine)")
    let row = "\(ofLine) AND kind = \(LineRecordKind.poll) AND id = '' AND number = 0"
    insert = try connection.prepare(
      "INSERT INTO line_record (\(line), kind, id, number, at) VALUES (?, ?, ?, \(LineRecordKind.poll), '', 0, ?)"
    )
    move = try connection.prepare("UPDATE line_record SET at = ?4 WHERE \(row)")
    delete = try connection.prepare("DELETE FROM line_record WHERE \(row)")
    record = try connection.prepare("UPDATE line_record SET polled_at = ?4 WHERE \(row)")
  }

  /// `nil` also for a line that was polled but is no longer scheduled.
  func lastPoll(of line: LineKey) throws(StoreError) -> Instant? { try row(of: line)?.polledAt }

  /// Writes nothing if the schedule is unchanged, as it is for most facts.
  func schedule(_ line: LineKey, at instant: Instant?) throws(StoreError) {
    try schedule(line, at: instant, known: try row(of: line))
  }

  /// Reads and writes the schedule with one lookup; most facts leave it unchanged.
  func reschedule(_ line: LineKey, _ next: (Instant?) -> Instant?) throws(StoreError) {
    let known = try row(of: line)
    try schedule(line, at: next(known?.polledAt), known: known)
  }

  /// Inserts, moves or deletes the row of a line; `known` is the stored one.
  private func schedule(_ line: LineKey, at instant: Instant?, known: Row?) throws(StoreError) {
    guard known?.at != instant else { return }
    let change = instant == nil ? delete : known == nil ? insert : move
    try change.bind(line)
    if let instant { try change.bind(4, instant.millisecondsSince1970) }
    try change.run()
  }

  /// Returns whether the line is scheduled.
  func record(_ line: LineKey, at instant: Instant) throws(StoreError) -> Bool {
    try record.bind(line)
    try record.bind(4, instant.millisecondsSince1970)
    return try record.runCounting() > 0
  }

  private typealias Row = (at: Instant, polledAt: Instant?)

  /// The scheduled and the last poll; `nil` if none is scheduled.
  private func row(of line: LineKey) throws(StoreError) -> Row? {
    try select.bind(line)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return (Instant(millisecondsSince1970: select.number(0)), select.instant(1))
  }
}

// Reads of the poll schedule.
extension SQLReader {
  func duePolls(
    of appID: String, in environment: Environment, by instant: Instant, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try rows(
      "SELECT line_id FROM poll WHERE app = ? AND environment = ? AND at <= ? ORDER BY at LIMIT ?", appID,
      environment, instant, limit
    ) { row in LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? "") }
  }

  func nextPoll(of appID: String, in environment: Environment) throws(StoreError) -> Instant? {
    try rows("SELECT min(at) FROM poll WHERE app = ? AND environment = ?", appID, environment) { row in
      row.instant(0)
    }.first ?? nil
  }

  func pollBacklog(
    of appID: String, in environment: Environment, by instant: Instant
  ) throws(StoreError) -> Int64 {
    try rows(
      "SELECT count(*) FROM poll WHERE app = ? AND environment = ? AND at <= ?", appID, environment, instant
    ) { $0.number(0) }.first ?? 0
  }
}
