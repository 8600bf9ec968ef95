internal import EntitledClient
internal import Foundation
internal import Wire

/// Shows the progress of a migration job: a bar on a terminal, otherwise one JSON line a second.
struct MigrationProgressView {
  private static let pollInterval = Duration.milliseconds(250)
  private static let lineInterval = Duration.seconds(1)

  let server: MigrationClient
  let isJSON: Bool

  /// Polls `job` until it has ended, and returns its final state.
  func follow(_ job: Migration) async throws -> Migration {
    var job = job
    let isTerminal = isatty(STDOUT_FILENO) == 1 && !isJSON
    var printed = ContinuousClock.now
    while job.state == .running {
      try await Task.sleep(for: Self.pollInterval)
      let id = job.migrationId
      let response = try await server.call { connection async throws(ClientError) in
        try await connection.getMigration(.with { $0.migrationId = id })
      }
      job = response.migration ?? job
      if isTerminal {
        show("\r\(job.bar)\u{1B}[K")
      } else if ContinuousClock.now - printed >= Self.lineInterval, job.state == .running {
        printed = .now
        show("\(job.line)\n")
      }
    }
    if isTerminal { show("\r\u{1B}[K") }
    return job
  }

  private func show(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}

extension Migration {
  /// One line of JSON.
  var line: String { String(decoding: json(), as: UTF8.self) }

  private static let barWidth = 30

  /// The completed share of the input, from 0 to 1.
  private var completed: Double {
    inputBytes > 0 ? min(1, Double(doneBytes) / Double(inputBytes)) : 0
  }

  /// A progress bar with rate and remaining time.
  fileprivate var bar: String {
    let filled = Int(completed * Double(Self.barWidth))
    let bar =
      String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barWidth - filled)
    return "[\(bar)] \(Int(completed * 100)) %  \(total) done, \(rejected + retryable) failed  "
      + "\(Int(rate.rounded()))/s  \(timeLeft)"
  }

  private var timeLeft: String {
    guard rate > 0, completed > 0 else { return "" }
    let seconds = Int(Double(total) * (1 - completed) / completed / rate)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0
      ? "\(hours) h \(minutes) min left" : minutes > 0 ? "\(minutes) min left" : "\(seconds) s left"
  }

  /// The results of the job as a table; `failures` is the file of failed lines.
  func report(failures: String?) -> String {
    var rows = [
      ("job", migrationId), ("state", state.word), ("lines", "\(total)"),
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
