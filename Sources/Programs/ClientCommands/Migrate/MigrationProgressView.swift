internal import EntitledClient
internal import Foundation
internal import Wire

/// Follows a migration job and shows its progress: a bar on a terminal, and one line of JSON a second on another
/// standard output, for programs.
struct MigrationProgressView {
  private static let pollInterval = Duration.milliseconds(250)
  private static let lineInterval = Duration.seconds(1)

  let server: MigrationClient
  /// Whether lines are printed on a standard output that is no terminal.
  var showsLines = true

  /// Polls `job` until it has ended, and returns its final state.
  func follow(_ job: Migration) async throws -> Migration {
    var job = job
    let progress = ProgressLine()
    defer { progress.finish() }
    let printsLines = showsLines && isatty(STDOUT_FILENO) == 0
    var printed = ContinuousClock.now
    while job.state == .running {
      try await Task.sleep(for: Self.pollInterval)
      let request = GetMigrationRequest.with {
        $0.app = job.app
        $0.migrationId = job.migrationId
      }
      let response = try await server.call { connection async throws(ClientError) in
        try await connection.getMigration(request)
      }
      job = response.migration ?? job
      if progress.isTerminal { progress.update(job.bar) }
      if printsLines, job.state == .running, ContinuousClock.now - printed >= Self.lineInterval {
        printed = .now
        print(job.line)
        // A pipe is not flushed line by line, and its reader follows the progress.
        fflush(nil)
      }
    }
    return job
  }
}

extension Migration {
  /// One line of JSON.
  var line: String { String(decoding: json(), as: UTF8.self) }

  /// The completed share of the input, from 0 to 1.
  private var completed: Double {
    inputBytes > 0 ? min(1, Double(doneBytes) / Double(inputBytes)) : 0
  }

  /// A progress bar with rate and remaining time.
  fileprivate var bar: String {
    "\(ProgressBar.text(completed))  \(doneLines) done, \(rejected + retryable) failed  "
      + "\(Int(rate.rounded()))/s  \(timeLeft)"
  }

  private var timeLeft: String {
    guard rate > 0, completed > 0 else { return "" }
    let seconds = Int(Double(doneLines) * (1 - completed) / completed / rate)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0
      ? "\(hours) h \(minutes) min left" : minutes > 0 ? "\(minutes) min left" : "\(seconds) s left"
  }

  /// The results of the job as a table; `failures` is the file of failed lines.
  func report(failures: String?) -> String {
    var rows = [
      ("job", migrationId), ("state", state.word), ("lines", "\(doneLines)"),
      (dryRun ? "would be migrated" : "migrated", "\(migrated)"), ("unchanged", "\(unchanged)"),
      ("  of migrated accounts", duplicates > 0 ? "\(duplicates)" : ""), ("empty", "\(empty)"),
      ("rejected", "\(rejected)"),
    ]
    rows += reasons.filter { $0.outcome == .rejected }.map { ("  \($0.reason)", "\($0.count)") }
    rows.append(("retryable", "\(retryable)"))
    rows += reasons.filter { $0.outcome == .retryable }.map { ("  \($0.reason)", "\($0.count)") }
    rows += [("error", error), ("failed lines", failures ?? "")]
    return Table.aligned(rows)
  }
}

extension MigrationState {
  /// The state for people.
  var word: String {
    switch self {
    case .running: "running"
    case .finished: "finished"
    case .cancelled: "cancelled"
    case .failed: "failed"
    case .unspecified, .unrecognized: "unknown"
    }
  }
}
