internal import AppStore
internal import Store

// Reads of migration jobs.
extension SQLSession {
  func migration(_ id: Int64) throws(StoreError) -> MigrationJob? {
    try jobs("migration_id = ?", id).first
  }

  func migrations(of appID: String, before id: Int64?, limit: Int) throws(StoreError) -> [MigrationJob] {
    try jobs("app = ? AND migration_id < ? ORDER BY migration_id DESC LIMIT ?", appID, id ?? .max, limit)
  }

  func runningMigrations() throws(StoreError) -> [MigrationJob] {
    try jobs("state = 'RUNNING' ORDER BY migration_id")
  }

  /// Returns the jobs that match a condition, with their counts.
  private func jobs(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [MigrationJob] {
    var jobs = try rows(
      """
      SELECT migration_id, app, environment, input_path, format, concurrency, dry_run, actor, links_unverified_ids,
        owns_input, state, error, started_at, finished_at, done_lines, position, duplicates
      FROM migration WHERE \(condition)
      """, binding: values
    ) { row throws(StoreError) in try MigrationJob(row) }
    for index in jobs.indices {
      for reason in try migrationReasons(of: jobs[index].id) {
        jobs[index].counts[reason.outcome, default: 0] += reason.count
      }
    }
    return jobs
  }

  func doneLines(of id: Int64) throws(StoreError) -> Set<Int64> {
    Set(try rows("SELECT line FROM migration_line WHERE migration_id = ?", id) { $0.number(0) })
  }

  func migrationFailures(
    of id: Int64, after line: Int64, limit: Int
  ) throws(StoreError) -> [MigrationLine] {
    try rows(
      """
      SELECT line, position, length, customer_id, outcome, reason, explanation FROM migration_failure
      WHERE migration_id = ? AND line > ? ORDER BY line LIMIT ?
      """, id, line, limit
    ) { row throws(StoreError) in
      MigrationLine(
        number: row.number(0), position: row.number(1), length: row.number(2),
        customerID: row.text(3) ?? "", outcome: try row.value(4), reason: row.text(5) ?? "",
        explanation: row.text(6) ?? "")
    }
  }

  func migrationReasons(of id: Int64) throws(StoreError) -> [MigrationReason] {
    try rows(
      "SELECT outcome, reason, count FROM migration_count WHERE migration_id = ? ORDER BY outcome, reason", id
    ) { row throws(StoreError) in
      MigrationReason(outcome: try row.value(0), reason: row.text(1) ?? "", count: row.number(2))
    }
  }
}

// Writes of migration jobs.
extension SQLTransaction {
  func begin(_ order: MigrationJob.Order, at instant: Instant) throws(StoreError) -> MigrationJob {
    let id = try rows(
      """
      INSERT INTO migration (
        app, environment, input_path, format, concurrency, dry_run, actor, links_unverified_ids, owns_input, state,
        error, started_at, done_lines, position, duplicates, purged)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'RUNNING', '', ?, 0, 0, 0, 0) RETURNING migration_id
      """, order.appID, order.environmentNames, order.inputPath, order.format, order.concurrency,
      order.isDryRun, order.actor, order.linksUnverifiedIDs, order.ownsInput, instant
    ) { $0.number(0) }.first
    guard let id else { throw .failed("a migration job was not inserted") }
    return MigrationJob(id: id, order: order, startedAt: instant)
  }

  /// Counts a line once: the inserted row, or the watermark, shows that it is finished. A line of a cancelled job may finish
  /// after the job was purged, and leaves nothing then.
  func finish(_ line: MigrationLine, of id: Int64) throws(StoreError) {
    let inserted = try runCounting(
      """
      INSERT INTO migration_line SELECT ?1, ?2
      WHERE NOT EXISTS (SELECT 1 FROM migration WHERE migration_id = ?1 AND (done_lines >= ?2 OR purged = 1))
      ON CONFLICT DO NOTHING
      """, id, line.number)
    guard inserted > 0 else { return }
    try run(
      """
      INSERT INTO migration_count (migration_id, outcome, reason, count) VALUES (?, ?, ?, 1)
      ON CONFLICT (migration_id, outcome, reason) DO UPDATE SET count = migration_count.count + 1
      """, id,
      line.outcome.rawValue, line.reason)
    if line.isDuplicate {
      try run("UPDATE migration SET duplicates = duplicates + 1 WHERE migration_id = ?", id)
    }
    guard line.outcome.isFailure else { return }
    try run(
      "INSERT INTO migration_failure VALUES (?, ?, ?, ?, ?, ?, ?, ?)", id, line.number, line.position,
      line.length, line.customerID, line.outcome.rawValue, line.reason, line.explanation)
  }

  /// Replaces the rows of finished lines by the watermark, so that the table stays small.
  func saveProgress(of id: Int64, to line: Int64, position: Int64) throws(StoreError) {
    try run(
      "UPDATE migration SET done_lines = ?2, position = ?3 WHERE migration_id = ?1 AND done_lines < ?2", id,
      line, position)
    try run("DELETE FROM migration_line WHERE migration_id = ? AND line <= ?", id, line)
  }

  func end(
    _ id: Int64, as state: MigrationJob.State, error: String, at instant: Instant
  ) throws(StoreError) {
    try run(
      """
      UPDATE migration SET state = ?2, error = ?3, finished_at = ?4
      WHERE migration_id = ?1 AND state = 'RUNNING'
      """, id, state.rawValue, error, instant)
  }

  func purgeFailures(of id: Int64) throws(StoreError) {
    try run("UPDATE migration SET purged = 1 WHERE migration_id = ?", id)
    try run("DELETE FROM migration_failure WHERE migration_id = ?", id)
  }
}

extension MigrationJob {
  fileprivate init(_ row: any SQLStatement) throws(StoreError) {
    let order = MigrationJob.Order(
      appID: row.text(1) ?? "", environments: try Order.environments(named: row.text(2) ?? ""),
      inputPath: row.text(3) ?? "", format: row.text(4) ?? "", concurrency: Int(row.number(5)),
      isDryRun: row.number(6) != 0,
      actor: row.text(7) ?? "", linksUnverifiedIDs: row.number(8) != 0, ownsInput: row.number(9) != 0)
    self.init(
      id: row.number(0), order: order, state: try row.value(10), error: row.text(11) ?? "",
      startedAt: Instant(millisecondsSince1970: row.number(12)), finishedAt: row.instant(13),
      duplicates: row.number(16), doneLines: row.number(14), position: row.number(15))
  }
}

extension MigrationJob.Order {
  /// The stored form of ``environments``: their names, separated by commas.
  fileprivate var environmentNames: String { environments.map(\.rawValue).joined(separator: ",") }

  fileprivate static func environments(named names: String) throws(StoreError) -> [Environment] {
    try names.split(separator: ",", omittingEmptySubsequences: false).map { name throws(StoreError) in
      guard let environment = Environment(rawValue: String(name)) else {
        throw .corrupt("unknown environment '\(name)'")
      }
      return environment
    }
  }
}
