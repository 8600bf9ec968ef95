internal import Synchronization

/// How often a caller may call.
package struct RateLimit: Hashable, Sendable {
  /// Calls in a second, in the long run.
  package let perSecond: Int64
  /// Calls that may come at once after a pause.
  package let burst: Int64

  /// A limit by its parts, both at least 1.
  package init(perSecond: Int64, burst: Int64) {
    self.perSecond = max(1, perSecond)
    self.burst = max(1, burst)
  }
}

/// A token bucket in one number, so that event loops share it without a lock: the moment at which it would be
/// full again if nobody called (GCRA, the form that ATM networks use).
package final class TokenBucket: Sendable {
  private let nanosecondsPerCall: Int64
  private let tolerance: Int64
  private let fullAt = Atomic<Int64>(0)

  /// A full bucket.
  package init(_ limit: RateLimit) {
    nanosecondsPerCall = max(1, 1_000_000_000 / limit.perSecond)
    tolerance = nanosecondsPerCall * (limit.burst - 1)
  }

  /// Takes a call out at `now`, in nanoseconds of a clock that only goes forward.
  ///
  /// - Returns: `nil` if there was one; else the nanoseconds until there is.
  package func take(at now: Int64) -> Int64? {
    var seen = fullAt.load(ordering: .relaxed)
    while true {
      let base = max(seen, now)
      let wait = base - now - tolerance
      guard wait <= 0 else { return wait }
      let outcome = fullAt.weakCompareExchange(
        expected: seen, desired: base + nanosecondsPerCall, ordering: .relaxed)
      if outcome.exchanged { return nil }
      seen = outcome.original
    }
  }
}
