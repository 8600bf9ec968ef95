internal import EntitledClient
internal import Foundation
internal import Wire

/// Follows a job: with a bar on a terminal, with lines of JSON elsewhere.
struct MigrationProgressView {
  private static let pause = Duration.milliseconds(250)
  /// How often a line of JSON is printed.
  private static let lineEvery = Duration.seconds(1)

  let server: MigrationClient
  let isJSON: Bool

  /// Returns the job once it has ended.
  func follow(_ job: Migration) async throws -> Migration {
    var job = job
    let isTerminal = isatty(STDOUT_FILENO) == 1 && !isJSON
    var printed = ContinuousClock.now
    while job.state == .running {
      try await Task.sleep(for: Self.pause)
      let id = job.migrationId
      let response = try await server.call { connection async throws(ClientError) in
        try await connection.getMigration(.with { $0.migrationId = id })
      }
      job = response.migration ?? job
      if isTerminal {
        show("\r\(job.bar)\u{1B}[K")
      } else if ContinuousClock.now - printed >= Self.lineEvery, job.state == .running {
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

  /// How far into the input all is done, from 0 to 1.
  private var share: Double {
    inputBytes > 0 ? min(1, Double(position) / Double(inputBytes)) : 0
  }

  /// A bar with rate and time left.
  fileprivate var bar: String {
    let filled = Int(share * Double(Self.barWidth))
    let bar =
      String(repeating: "#", count: filled) + String(repeating: ".", count: Self.barWidth - filled)
    return "[\(bar)] \(Int(share * 100)) %  \(total) done, \(rejected + retryable) failed  "
      + "\(Int(rate.rounded()))/s  \(timeLeft)"
  }

  private var timeLeft: String {
    guard rate > 0, share > 0 else { return "" }
    let seconds = Int(Double(total) * (1 - share) / share / rate)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0
      ? "\(hours) h \(minutes) min left" : minutes > 0 ? "\(minutes) min left" : "\(seconds) s left"
  }

  /// What came of all of it, for a person.
  func report(failures: String?) -> String {
    var rows = [
      ("job", migrationId), ("state", state.word), ("lines", "\(total)"),
      (dryRun ? "would be asked about" : "migrated", "\(migrated)"), ("unchanged", "\(unchanged)"),
      ("  of known accounts", duplicates > 0 ? "\(duplicates)" : ""), ("empty", "\(empty)"),
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
  fileprivate var word: String {
    switch self {
    case .running: "running"
    case .finished: "finished"
    case .cancelled: "cancelled"
    case .failed: "failed"
    case .unspecified, .unrecognized: "unknown"
    }
  }
}
