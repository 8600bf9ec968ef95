package import AppStore

/// Reads migration jobs and their failed lines.
package protocol MigrationJobReader {
  /// One job; `nil` if it does not exist.
  func migration(_ id: Int64) throws(StoreError) -> MigrationJob?

  /// The job of an app with this idempotency key; `nil` if there is none.
  func migration(withKey key: String, of appID: String) throws(StoreError) -> MigrationJob?

  /// The unfinished jobs, oldest first.
  func runningMigrations() throws(StoreError) -> [MigrationJob]

  /// The finished lines that follow the last line up to which all are finished.
  func doneLines(of id: Int64) throws(StoreError) -> Set<Int64>

  /// At most `limit` lines of a job that were rejected or are retryable, in order, after line `line`.
  func migrationFailures(
    of id: Int64, after line: Int64, limit: Int
  ) throws(StoreError) -> [MigrationLine]

  /// The number of rejected and of retryable lines, by reason.
  func migrationReasons(of id: Int64) throws(StoreError) -> [MigrationReason]
}

/// Stores the progress of migration jobs, so that they continue after a restart.
package protocol MigrationJobStore: MigrationJobReader {
  /// Creates a job, or returns the existing one if the app has a job with the same key and the key is not empty.
  func begin(_ order: MigrationJob.Order, at moment: Instant) throws(StoreError) -> MigrationJob

  /// Remembers what became of a line. Again, it changes nothing.
  func finish(_ line: MigrationLine, of id: Int64) throws(StoreError)

  /// All lines up to `line` are done, and the next one begins at `position`.
  func saveProgress(of id: Int64, to line: Int64, position: Int64) throws(StoreError)

  /// Ends a job that goes on; one that has ended stays as it is.
  func end(
    _ id: Int64, as state: MigrationJob.State, problem: String, at moment: Instant
  ) throws(StoreError)

  /// Forgets what the failures of a job were.
  func forgetFailures(of id: Int64) throws(StoreError)
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
