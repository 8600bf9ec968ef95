internal import Synchronization

/// Limits how fast reflection answers all of its callers together: thirty bytes of anyone ask for hundreds of kilobytes, which
/// the event loop copies.
final class ReflectionPace: Sendable {
  /// The time at which the pace permits another answer (the generic cell rate algorithm, ITU-T I.371).
  private let next = Mutex(ContinuousClock.Instant?.none)

  /// Counts an answer of some bytes, and returns the time until it may be sent; `nil` if too many wait.
  func delay(of bytes: Int, at now: ContinuousClock.Instant) -> Duration? {
    next.withLock { next in
      let turn = max(next ?? now, now)
      let delay = max(now.duration(to: turn) - Self.atOnce, .zero)
      guard delay <= Self.maxDelay else { return nil }
      next = turn + .nanoseconds((bytes + Self.overhead) * 1_000_000_000 / Self.bytesPerSecond)
      return delay
    }
  }

  /// Enough for tools, and a few percent of the time of an event loop.
  static let bytesPerSecond = 32 << 20
  /// What an answer costs besides its bytes.
  static let overhead = 8 << 10
  /// The answers of this time need not wait for each other.
  static let atOnce = Duration.milliseconds(100)
  static let maxDelay = Duration.seconds(5)
}
