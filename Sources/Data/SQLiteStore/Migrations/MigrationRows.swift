internal import AppStore
internal import SQLite
internal import Store

/// Reads and writes `migration` and the lines of each job.
final class MigrationRows {
  private static let columns = """
    migration_id, app, environment, input_path, format, concurrency, dry_run, idempotency_key, actor,
    links_unverified_ids, owns_input, state, error, started_at, finished_at, done_lines, position, duplicates
    """

  private let connection: Connection
  private let isDone: Statement
  private let insertDone: Statement
  private let deleteDone: Statement
  private let count: Statement
  private let countDuplicate: Statement
  private let insertFailure: Statement
  private let advance: Statement

  init(_ connection: Connection) throws(StoreError) {
    self.connection = connection
    isDone = try Statement(
      """
      SELECT EXISTS (SELECT 1 FROM migration_line WHERE migration_id = ?1 AND line = ?2)
        OR (SELECT done_lines >= ?2 FROM migration WHERE migration_id = ?1)
      """, on: connection)
    insertDone = try Statement("INSERT INTO migration_line VALUES (?, ?)", on: connection)
    deleteDone = try Statement(
      "DELETE FROM migration_line WHERE migration_id = ? AND line <= ?", on: connection)
    count = try Statement(
      """
      INSERT INTO migration_count VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1
      """, on: connection)
    countDuplicate = try Statement(
      "UPDATE migration SET duplicates = duplicates + 1 WHERE migration_id = ?", on: connection)
    insertFailure = try Statement(
      "INSERT INTO migration_failure VALUES (?, ?, ?, ?, ?, ?, ?, ?)", on: connection)
    advance = try Statement(
      "UPDATE migration SET done_lines = ?2, position = ?3 WHERE migration_id = ?1 AND done_lines < ?2",
      on: connection)
  }

  func begin(_ order: MigrationJob.Order, at instant: Instant) throws(StoreError) -> MigrationJob {
    if !order.key.isEmpty, let known = try Self.job(withKey: order.key, of: order.appID, connection) {
      return known
    }
    // Prepared on each call, because calls are rare.
    let insert = try Statement(
      """
      INSERT INTO migration (
        app, environment, input_path, format, concurrency, dry_run, idempotency_key, actor, links_unverified_ids,
        owns_input, state, error, started_at, done_lines, position, duplicates)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'RUNNING', '', ?, 0, 0, 0)
      """, on: connection)
    for (index, text) in [order.appID, order.environment.rawValue, order.inputPath, order.format].enumerated()
    {
      try insert.bind(CInt(1 + index), text)
    }
    try insert.bind(5, Int64(order.concurrency))
    try insert.bind(6, order.isDryRun ? 1 : 0 as Int64)
    try insert.bind(7, order.key)
    try insert.bind(8, order.actor)
    try insert.bind(9, order.linksUnverifiedIDs ? 1 : 0 as Int64)
    try insert.bind(10, order.ownsInput ? 1 : 0 as Int64)
    try insert.bind(11, instant.millisecondsSince1970)
    try insert.run()
    let id = try connection.number("SELECT last_insert_rowid()")
    return MigrationJob(id: id, order: order, startedAt: instant)
  }

  func finish(_ line: MigrationLine, of id: Int64) throws(StoreError) {
    try isDone.bind(1, id)
    try isDone.bind(2, line.number)
    let isKnown = try isDone.step() && isDone.number(0) != 0
    isDone.reset()
    guard !isKnown else { return }
    try insertDone.bind(1, id)
    try insertDone.bind(2, line.number)
    try insertDone.run()
    try count.bind(1, id)
    try count.bind(2, line.outcome.rawValue)
    try count.bind(3, line.reason)
    try count.run()
    if line.isDuplicate {
      try countDuplicate.bind(1, id)
      try countDuplicate.run()
    }
    guard line.outcome.isFailure else { return }
    try insertFailure.bind(1, id)
    try insertFailure.bind(2, line.number)
    try insertFailure.bind(3, line.position)
    try insertFailure.bind(4, line.length)
    let texts = [line.customerID, line.outcome.rawValue, line.reason, line.explanation]
    for (index, text) in texts.enumerated() { try insertFailure.bind(CInt(5 + index), text) }
    try insertFailure.run()
  }

  func saveProgress(of id: Int64, to line: Int64, position: Int64) throws(StoreError) {
    try advance.bind(1, id)
    try advance.bind(2, line)
    try advance.bind(3, position)
    try advance.run()
    try deleteDone.bind(1, id)
    try deleteDone.bind(2, line)
    try deleteDone.run()
  }

  // The following methods prepare their statements on each call, because calls are rare.

  static func doneLines(of id: Int64, _ connection: Connection) throws(StoreError) -> Set<Int64> {
    let select = try Statement("SELECT line FROM migration_line WHERE migration_id = ?", on: connection)
    try select.bind(1, id)
    defer { select.reset() }
    var lines: Set<Int64> = []
    while try select.step() { lines.insert(select.number(0)) }
    return lines
  }

  func end(
    _ id: Int64, as state: MigrationJob.State, error: String, at instant: Instant
  ) throws(StoreError) {
    let update = try Statement(
      """
      UPDATE migration SET state = ?2, error = ?3, finished_at = ?4
      WHERE migration_id = ?1 AND state = 'RUNNING'
      """, on: connection)
    try update.bind(1, id)
    try update.bind(2, state.rawValue)
    try update.bind(3, error)
    try update.bind(4, instant.millisecondsSince1970)
    try update.run()
  }

  func purgeFailures(of id: Int64) throws(StoreError) {
    let delete = try Statement("DELETE FROM migration_failure WHERE migration_id = ?", on: connection)
    try delete.bind(1, id)
    try delete.run()
  }

  static func job(_ id: Int64, _ connection: Connection) throws(StoreError) -> MigrationJob? {
    let select = try Statement("SELECT \(columns) FROM migration WHERE migration_id = ?", on: connection)
    try select.bind(1, id)
    return try jobs(select, connection).first
  }

  static func running(_ connection: Connection) throws(StoreError) -> [MigrationJob] {
    try jobs(
      Statement(
        "SELECT \(columns) FROM migration WHERE state = 'RUNNING' ORDER BY migration_id", on: connection),
      connection)
  }

  static func job(
    withKey key: String, of appID: String, _ connection: Connection
  ) throws(StoreError) -> MigrationJob? {
    let select = try Statement(
      "SELECT \(columns) FROM migration WHERE app = ? AND idempotency_key = ? AND idempotency_key <> ''",
      on: connection)
    try select.bind(1, appID)
    try select.bind(2, key)
    return try jobs(select, connection).first
  }

  static func failures(
    of id: Int64, after line: Int64, limit: Int, _ connection: Connection
  ) throws(StoreError) -> [MigrationLine] {
    let select = try Statement(
      """
      SELECT line, position, length, customer_id, outcome, reason, explanation FROM migration_failure
      WHERE migration_id = ? AND line > ? ORDER BY line LIMIT ?
      """, on: connection)
    try select.bind(1, id)
    try select.bind(2, line)
    try select.bind(3, Int64(limit))
    defer { select.reset() }
    var lines: [MigrationLine] = []
    while try select.step() {
      lines.append(
        MigrationLine(
          number: select.number(0), position: select.number(1), length: select.number(2),
          customerID: select.text(3) ?? "", outcome: try outcome(select.text(4)),
          reason: select.text(5) ?? "", explanation: select.text(6) ?? ""))
    }
    return lines
  }

  static func reasons(of id: Int64, _ connection: Connection) throws(StoreError) -> [MigrationReason] {
    let select = try Statement(
      "SELECT outcome, reason, count FROM migration_count WHERE migration_id = ? ORDER BY outcome, reason",
      on: connection)
    try select.bind(1, id)
    defer { select.reset() }
    var reasons: [MigrationReason] = []
    while try select.step() {
      reasons.append(
        MigrationReason(
          outcome: try outcome(select.text(0)), reason: select.text(1) ?? "", count: select.number(2)))
    }
    return reasons
  }

  private static func outcome(_ text: String?) throws(StoreError) -> MigrationLine.Outcome {
    guard let outcome = text.flatMap(MigrationLine.Outcome.init(rawValue:)) else {
      throw .corrupt("a migration line has an unknown outcome")
    }
    return outcome
  }

  private static func jobs(
    _ select: Statement, _ connection: Connection
  ) throws(StoreError) -> [MigrationJob] {
    var jobs: [MigrationJob] = []
    defer { select.reset() }
    while try select.step() {
      var job = try job(select)
      for reason in try reasons(of: job.id, connection) {
        job.counts[reason.outcome, default: 0] += reason.count
      }
      jobs.append(job)
    }
    return jobs
  }

  private static func job(_ row: Statement) throws(StoreError) -> MigrationJob {
    guard let environment = row.text(2).flatMap(Environment.init(rawValue:)),
      let state = row.text(11).flatMap(MigrationJob.State.init(rawValue:))
    else { throw .corrupt("a migration has an unknown environment or state") }
    let order = MigrationJob.Order(
      appID: row.text(1) ?? "", environment: environment, inputPath: row.text(3) ?? "",
      format: row.text(4) ?? "", concurrency: Int(row.number(5)), isDryRun: row.number(6) != 0,
      key: row.text(7) ?? "", actor: row.text(8) ?? "", linksUnverifiedIDs: row.number(9) != 0,
      ownsInput: row.number(10) != 0)
    return MigrationJob(
      id: row.number(0), order: order, state: state, error: row.text(12) ?? "",
      startedAt: Instant(millisecondsSince1970: row.number(13)),
      finishedAt: row.instant(14),
      duplicates: row.number(17), doneLines: row.number(15), position: row.number(16))
  }
}
