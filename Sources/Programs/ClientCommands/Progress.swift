internal import Foundation

/// Shows the progress of long work on the standard error: one line that is rewritten on a terminal, otherwise a new
/// line every five seconds. Short work shows nothing.
package final class ProgressLine {
  private static let terminalInterval = Duration.milliseconds(250)
  private static let plainInterval = Duration.seconds(5)

  /// Whether the standard error is a terminal.
  let isTerminal = isatty(STDERR_FILENO) == 1
  private var next: ContinuousClock.Instant
  private var isShown = false

  /// Shows nothing before the first interval has passed.
  package init() { next = .now + (isTerminal ? Self.terminalInterval : Self.plainInterval) }

  /// Shows `text` if it is time for it.
  package func update(_ text: @autoclosure () -> String) {
    guard ContinuousClock.now >= next else { return }
    next = .now + (isTerminal ? Self.terminalInterval : Self.plainInterval)
    isShown = true
    write(isTerminal ? "\r\(text())\u{1B}[K" : "\(text())\n")
  }

  /// Shows how much of the work is done, from 0 to 1: a bar on a terminal, otherwise a percentage.
  package func update(_ verb: String, part: Double) {
    update("\(verb) \(isTerminal ? ProgressBar.text(part) : "\(Int(part * 100)) %")")
  }

  /// Shows that `done` of `total` steps are done; their number alone while the total is not known.
  package func update(_ verb: String, _ done: Int, of total: Int64?) {
    guard let total, total > 0 else { return update("\(verb) \(done)") }
    update(verb, part: min(1, Double(done) / Double(total)))
  }

  /// Removes the line from a terminal, so that the result replaces it.
  package func finish() {
    if isTerminal, isShown { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

  /// Runs work that does not report its progress itself, and shows meanwhile what `text` returns for the time since
  /// its start.
  package static func during<Result: Sendable>(
    _ work: () async throws -> Result, show text: @escaping @Sendable (Duration) async -> String?
  ) async rethrows -> Result {
    let begin = ContinuousClock.now
    let watch = Task {
      let line = ProgressLine()
      while (try? await Task.sleep(for: Self.terminalInterval)) != nil {
        if let text = await text(ContinuousClock.now - begin), !Task.isCancelled { line.update(text) }
      }
      line.finish()
    }
    do {
      let result = try await work()
      watch.cancel()
      await watch.value
      return result
    } catch {
      watch.cancel()
      await watch.value
      throw error
    }
  }
}

/// A bar for work of known length.
enum ProgressBar {
  private static let width = 30

  /// A bar and the percentage of `done`, which is from 0 to 1.
  static func text(_ done: Double) -> String {
    let done = min(1, max(0, done))
    let filled = Int(done * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    return "[\(bar)] \(Int(done * 100)) %"
  }
}
