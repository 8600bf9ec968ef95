internal import AppStore
internal import SQLite
internal import Store

// Migration jobs.
extension SQLiteTransaction {
  func begin(_ order: MigrationJob.Order, at moment: Instant) throws(StoreError) -> MigrationJob {
    try migration.begin(order, at: moment)
  }

  func migration(_ id: Int64) throws(StoreError) -> MigrationJob? { try MigrationRows.job(id, connection) }

  func migration(withKey key: String, of appID: String) throws(StoreError) -> MigrationJob? {
    try MigrationRows.job(withKey: key, of: appID, connection)
  }

  func runningMigrations() throws(StoreError) -> [MigrationJob] { try MigrationRows.running(connection) }

  func finish(_ line: MigrationLine, of id: Int64) throws(StoreError) {
    try migration.finish(line, of: id)
  }

  func advance(_ id: Int64, to line: Int64, position: Int64) throws(StoreError) {
    try migration.advance(id, to: line, position: position)
  }

  func doneLines(of id: Int64) throws(StoreError) -> Set<Int64> {
    try MigrationRows.doneLines(of: id, connection)
  }

  func end(
    _ id: Int64, as state: MigrationJob.State, problem: String, at moment: Instant
  ) throws(StoreError) {
    try migration.end(id, as: state, problem: problem, at: moment)
  }

  func forgetFailures(of id: Int64) throws(StoreError) { try migration.forgetFailures(of: id) }

  func migrationFailures(
    of id: Int64, after line: Int64, limit: Int
  ) throws(StoreError) -> [MigrationLine] {
    try MigrationRows.failures(of: id, after: line, limit: limit, connection)
  }

  func migrationReasons(of id: Int64) throws(StoreError) -> [MigrationReason] {
    try MigrationRows.reasons(of: id, connection)
  }
}
