package import AppStore

/// Reads migration jobs and their failed lines.
package protocol MigrationJobReader {
  /// Returns one job; `nil` if it does not exist.
  func migration(_ id: Int64) throws(StoreError) -> MigrationJob?

  /// Returns at most `limit` jobs of an app, latest first, before the job `id`; `nil` begins.
  func migrations(of appID: String, before id: Int64?, limit: Int) throws(StoreError) -> [MigrationJob]

  /// Returns the unfinished jobs, oldest first.
  func runningMigrations() throws(StoreError) -> [MigrationJob]

  /// Returns the finished lines that follow the last line up to which all are finished.
  func doneLines(of id: Int64) throws(StoreError) -> Set<Int64>

  /// Returns at most `limit` rejected or retryable lines of a job, in order, after line number `line`.
  func migrationFailures(
    of id: Int64, after line: Int64, limit: Int
  ) throws(StoreError) -> [MigrationLine]

  /// Returns the number of rejected and of retryable lines, by reason.
  func migrationReasons(of id: Int64) throws(StoreError) -> [MigrationReason]
}

/// Stores the progress of migration jobs, so that they continue after a restart.
package protocol MigrationJobStore: MigrationJobReader {
  /// Creates a job.
  func begin(_ order: MigrationJob.Order, at instant: Instant) throws(StoreError) -> MigrationJob

  /// Stores the result of a line. Has no effect for a finished line.
  func finish(_ line: MigrationLine, of id: Int64) throws(StoreError)

  /// Stores that all lines up to `line` are finished, and that the next one begins at byte offset `position`.
  func saveProgress(of id: Int64, to line: Int64, position: Int64) throws(StoreError)

  /// Ends a running job; has no effect on one that has ended.
  func end(
    _ id: Int64, as state: MigrationJob.State, error: String, at instant: Instant
  ) throws(StoreError)

  /// Deletes the stored failures of a job that has ended. Its lines that finish later have no effect.
  func purgeFailures(of id: Int64) throws(StoreError)
}

/// The number of failed lines with one reason.
package struct MigrationReason: Hashable, Sendable {
  /// The kind of failure.
  package let outcome: MigrationLine.Outcome
  /// The reason code.
  package let reason: String
  /// The number of lines; at least 1.
  package let count: Int64

  /// Creates a count from its parts.
  package init(outcome: MigrationLine.Outcome, reason: String, count: Int64) {
    self.outcome = outcome
    self.reason = reason
    self.count = count
  }
}
