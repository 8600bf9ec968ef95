package import AppStore

/// Keeps how far migration jobs are, so that they go on where they were.
package protocol MigrationJobStore {
  /// Begins a job, unless there is one of the same app with the same key, which is not empty: then that.
  func begin(_ order: MigrationJob.Order, at moment: Instant) throws(StoreError) -> MigrationJob

  /// One job; `nil` if there is none of that number.
  func migration(_ id: Int64) throws(StoreError) -> MigrationJob?

  /// The job of an app that has this key; `nil` if there is none.
  func migration(withKey key: String, of appID: String) throws(StoreError) -> MigrationJob?

  /// The jobs that go on, the oldest first.
  func runningMigrations() throws(StoreError) -> [MigrationJob]

  /// Remembers what became of a line. Again, it changes nothing.
  func finish(_ line: MigrationLine, of id: Int64) throws(StoreError)

  /// All lines up to `line` are done, and the next one begins at `position`.
  func advance(_ id: Int64, to line: Int64, position: Int64) throws(StoreError)

  /// The lines that are done behind the last one up to which all are.
  func doneLines(of id: Int64) throws(StoreError) -> Set<Int64>

  /// Ends a job that goes on; one that has ended stays as it is.
  func end(
    _ id: Int64, as state: MigrationJob.State, problem: String, at moment: Instant
  ) throws(StoreError)

  /// Forgets what the failures of a job were.
  func forgetFailures(of id: Int64) throws(StoreError)

  /// At most `limit` lines of a job that were refused or are to be tried again, behind line `line`.
  func migrationFailures(
    of id: Int64, after line: Int64, limit: Int
  ) throws(StoreError) -> [MigrationLine]

  /// How many lines were refused, or are to be tried again, for which reason.
  func migrationReasons(of id: Int64) throws(StoreError) -> [MigrationReason]
}

/// Why lines of a job failed, and how many.
package struct MigrationReason: Hashable, Sendable {
  package let outcome: MigrationLine.Outcome
  /// A code for machines.
  package let reason: String
  package let count: Int64

  /// A reason by its parts.
  package init(outcome: MigrationLine.Outcome, reason: String, count: Int64) {
    self.outcome = outcome
    self.reason = reason
    self.count = count
  }
}
