internal import AppStore
internal import Store

/// Reads and writes the next status poll of each line: the `line_record` rows of the view `poll`.
final class PollRows {
  /// The scheduled and the last poll; `nil` if none is scheduled.
  let row: KeyedRead<LineKey, Row?>
  private let put: any SQLStatement
  private let delete: any SQLStatement
  private let record: any SQLStatement

  typealias Row = (at: Instant, polledAt: Instant?)

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let line = "line_id, app, environment"
    let ofLine = "line_id = ?1 AND app = ?2 AND environment = ?3"
    self.row = try KeyedRead(
      "SELECT at, polled_at FROM poll WHERE \(ofLine)", on: connection, in: workspace
    ) { _, row throws(StoreError) in
      guard try row.step() else { return nil }
      return (Instant(millisecondsSince1970: row.number(0)), row.instant(1))
    }
    let row = "\(ofLine) AND kind = \(LineRecordKind.poll) AND id = '' AND number = 0"
    put = try connection.prepare(
      """
      INSERT INTO line_record (\(line), kind, id, number, at) VALUES (?, ?, ?, \(LineRecordKind.poll), '', 0, ?)
      ON CONFLICT (\(line), kind, id, number) DO UPDATE SET at = excluded.at
      """)
    delete = try connection.prepare("DELETE FROM line_record WHERE \(row)")
    record = try connection.prepare("UPDATE line_record SET polled_at = ?4 WHERE \(row)")
  }

  /// `nil` also for a line that was polled but is no longer scheduled.
  func lastPoll(of line: LineKey) throws(StoreError) -> Instant? { try row(line)?.polledAt }

  /// Writes nothing if the schedule is unchanged, as it is for most facts.
  func schedule(_ line: LineKey, at instant: Instant?) throws(StoreError) {
    try schedule(line, at: instant, known: try row(line))
  }

  /// Reads and writes the schedule with one lookup; most facts leave it unchanged.
  func reschedule(_ line: LineKey, _ next: (Instant?) -> Instant?) throws(StoreError) {
    let known = try row(line)
    try schedule(line, at: next(known?.polledAt), known: known)
  }

  /// Inserts, moves or deletes the row of a line; `known` is the stored one.
  private func schedule(_ line: LineKey, at instant: Instant?, known: Row?) throws(StoreError) {
    guard known?.at != instant else { return }
    row.keep(instant.map { (at: $0, polledAt: known?.polledAt) }, of: line)
    let change = instant == nil ? delete : put
    try change.bind(line)
    if let instant { try change.bind(4, instant.millisecondsSince1970) }
    try change.run()
  }

  /// Returns whether the line is scheduled.
  func record(_ line: LineKey, at instant: Instant) throws(StoreError) -> Bool {
    try record.bind(line)
    try record.bind(4, instant.millisecondsSince1970)
    row.discard(line)
    return try record.runCounting() > 0
  }
}

// Reads of the poll schedule.
extension SQLReader {
  func duePolls(
    of appID: String, in environment: Environment, by instant: Instant, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try rows(
      "SELECT line_id FROM poll WHERE app = ? AND environment = ? AND at <= ? ORDER BY at LIMIT ?",
      appID, environment, instant, limit
    ) { row in LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? "") }
  }

  func polls(
    recordedAfter instant: Instant, of appID: String, in environment: Environment,
    following last: ScheduledPoll?, limit: Int
  ) throws(StoreError) -> [ScheduledPoll] {
    try rows(
      Self.recordedPolls, appID, environment, instant, last?.at ?? Instant(millisecondsSince1970: .min),
      last?.line.lineID ?? "", limit
    ) { row in
      ScheduledPoll(
        line: LineKey(appID: appID, environment: environment, lineID: row.text(0) ?? ""),
        at: Instant(millisecondsSince1970: row.number(1)))
    }
  }

  /// Each page continues in the index `poll_by_time`, so that all pages read the schedule once.
  static let recordedPolls = """
    SELECT line_id, at FROM poll WHERE app = ? AND environment = ? AND polled_at > ?
    AND (at, line_id) > (?, ?) ORDER BY at, line_id LIMIT ?
    """

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
