package import AppStore
internal import Synchronization

/// A clock that a test sets.
package final class TestClock: Sendable {
  private let instant: Mutex<Instant>

  package init(_ now: Instant) { instant = Mutex(now) }

  package var now: Instant { instant.withLock { $0 } }

  package func set(_ now: Instant) { instant.withLock { $0 = now } }

  /// Advances the clock, or sets it back by a negative duration.
  package func advance(by duration: Duration) {
    instant.withLock { $0 = $0.advanced(byMilliseconds: Int64(duration / .milliseconds(1))) }
  }
}
