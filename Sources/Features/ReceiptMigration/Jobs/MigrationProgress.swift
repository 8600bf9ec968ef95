internal import Synchronization

/// The speed of a running job, and whether it should stop. The job's tasks and the manager share it.
final class MigrationProgress: Sendable {
  private struct State {
    /// The number of finished lines in each of the last seconds.
    var seconds: [(second: Int64, count: Int)] = []
    var isStopped = false
  }

  /// Seconds.
  private static let window: Int64 = 10

  private let start = ContinuousClock.now
  private let state = Mutex(State())

  /// Whether the job was cancelled in this process.
  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Stops the job from starting further lines.
  func stop() { state.withLock { $0.isStopped = true } }

  /// Counts a finished line.
  func count() {
    let now = second
    state.withLock { state in
      if state.seconds.last?.second == now {
        state.seconds[state.seconds.count - 1].count += 1
      } else {
        state.seconds.append((now, 1))
        state.seconds.removeAll { $0.second < now - Self.window }
      }
    }
  }

  /// Lines a second, over the last 10 seconds.
  var rate: Double {
    let now = second
    let recent = state.withLock { state in
      state.seconds.filter { $0.second >= now - Self.window }.reduce(0) { $0 + $1.count }
    }
    return Double(recent) / Double(max(1, min(now, Self.window)))
  }

  private var second: Int64 { (ContinuousClock.now - start).components.seconds }
}

/// The line up to which all are done, while later ones may be done too. A job that resumes begins after it, and leaves
/// out the later ones by their stored results.
struct ProgressWatermark {
  /// The number of lines of the input up to its end.
  private(set) var line: Int64
  /// The position in the input after that line, in bytes.
  private(set) var position: Int64
  /// The lines beyond it that have begun, in order, with the mark after each.
  private var begun: [(number: Int64, lineCount: Int64, position: Int64)] = []
  /// The numbers of those that are done.
  private var done: Set<Int64> = []

  /// Resumes after a stored watermark.
  init(line: Int64, position: Int64) {
    self.line = line
    self.position = position
  }

  /// Whether no line is in flight.
  var isComplete: Bool { begun.isEmpty }

  /// Records that a line is in flight; `lineCount` lines and `position` bytes of the input are before the one after it.
  /// Lines must begin in order.
  mutating func begin(_ line: InputLine, lineCount: Int64, position: Int64) {
    begun.append((line.number, lineCount, position))
  }

  /// Records that a line is done, and moves the watermark over all that are done without a gap.
  mutating func finish(_ finished: InputLine) {
    done.insert(finished.number)
    let finished = begun.prefix { done.contains($0.number) }
    guard let last = finished.last else { return }
    (line, position) = (last.lineCount, last.position)
    for line in finished { done.remove(line.number) }
    begun.removeFirst(finished.count)
  }
}
