internal import Synchronization

/// Stops calling a host that fails again and again, and tries it with one call after a while.
final class CircuitBreaker: Sendable {
  private enum Phase {
    case closed(failures: Int)
    /// Calls fail at once until then. `length` is how long this time is.
    case open(until: Duration, length: Duration)
    /// One call is on the way; the others fail until it comes back.
    case probing(length: Duration)
  }

  private static let failureLimit = 5
  private static let firstPause = Duration.seconds(5)
  private static let longestPause = Duration.seconds(300)

  private let clock: ClientClock
  private let phase = Mutex(Phase.closed(failures: 0))

  init(clock: ClientClock) { self.clock = clock }

  /// Asks whether to call.
  ///
  /// Returns `nil` to call; else how long not to.
  func pause() -> Duration? {
    let now = clock.uptime()
    return phase.withLock { phase in
      switch phase {
      case .closed: return nil
      case .open(let end, let length):
        guard now >= end else { return end - now }
        phase = .probing(length: length)
        return nil
      case .probing(let length): return length
      }
    }
  }

  /// Whether the host is left alone, or tried with one call.
  var isOpen: Bool { phase.withLock { if case .closed = $0 { false } else { true } } }

  /// The host answered, whatever it said.
  func succeeded() { phase.withLock { $0 = .closed(failures: 0) } }

  /// The host did not answer, or only that it cannot.
  func failed() {
    let now = clock.uptime()
    phase.withLock { phase in
      switch phase {
      case .closed(let failures):
        phase =
          failures + 1 < Self.failureLimit
          ? .closed(failures: failures + 1)
          : .open(until: now + Self.firstPause, length: Self.firstPause)
      case .probing(let length):
        let longer = min(length * 2, Self.longestPause)
        phase = .open(until: now + longer, length: longer)
      case .open: break
      }
    }
  }

  /// The call was given up before anything came of it: the next one may try.
  func abandoned() {
    let now = clock.uptime()
    phase.withLock { phase in
      if case .probing(let length) = phase { phase = .open(until: now, length: length) }
    }
  }
}
