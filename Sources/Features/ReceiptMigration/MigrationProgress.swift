internal import Synchronization

/// How fast a job is, and whether it is to stop.
final class MigrationProgress: Sendable {
  private struct State {
    /// How many lines were done in each of the last seconds.
    var seconds: [(second: Int64, count: Int)] = []
    var isStopped = false
  }

  private static let window: Int64 = 10

  private let start = ContinuousClock.now
  private let state = Mutex(State())

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// The job is to take no more lines.
  func stop() { state.withLock { $0.isStopped = true } }

  /// A line is done.
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

  /// Lines each second, lately.
  var rate: Double {
    let now = second
    let recent = state.withLock { state in
      state.seconds.filter { $0.second >= now - Self.window }.reduce(0) { $0 + $1.count }
    }
    return Double(recent) / Double(max(1, min(now, Self.window)))
  }

  private var second: Int64 { (ContinuousClock.now - start).components.seconds }
}
