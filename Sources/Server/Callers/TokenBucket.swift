internal import Synchronization

/// The maximum rate of a caller's calls.
package struct RateLimit: Hashable, Sendable {
  /// Calls per second, on average.
  package let perSecond: Int64
  /// Calls allowed at once after a pause.
  package let burst: Int64

  /// A rate limit; both values are raised to at least 1.
  package init(perSecond: Int64, burst: Int64) {
    self.perSecond = max(1, perSecond)
    self.burst = max(1, burst)
  }
}

/// A token bucket in one number, the instant at which it is full again (GCRA, as in ATM networks), so that
/// event loops share it without a lock.
///
/// One of three, on purpose: AppStoreClient's `RateLimiter` queues calls by priority, and the sandbox's
/// simulates Apple's limits in simulated time.
package final class TokenBucket: Sendable {
  private let nanosecondsPerCall: Int64
  private let burst: Int64
  private let fullAt = Atomic<Int64>(0)

  /// A full bucket.
  package init(_ limit: RateLimit) {
    nanosecondsPerCall = max(1, 1_000_000_000 / limit.perSecond)
    burst = limit.burst
  }

  /// Takes one call at `now`, in nanoseconds of a monotonic clock. `replicas` processes have a part of the limit each, at
  /// least one call at once. A call that counts as `cost` calls is within the limit if one call is; the next ones wait for it.
  ///
  /// - Returns: `nil` if the call is within the limit, otherwise the nanoseconds until the next one is.
  package func take(at now: Int64, cost: Int64 = 1, dividedBy replicas: Int64 = 1) -> Int64? {
    let nanosecondsPerCall = nanosecondsPerCall * replicas
    let tolerance = nanosecondsPerCall * (max(1, burst / replicas) - 1)
    var seen = fullAt.load(ordering: .relaxed)
    while true {
      let base = max(seen, now)
      let wait = base - now - tolerance
      guard wait <= 0 else { return wait }
      let outcome = fullAt.weakCompareExchange(
        expected: seen, desired: base + nanosecondsPerCall * cost, ordering: .relaxed)
      if outcome.exchanged { return nil }
      seen = outcome.original
    }
  }

  /// Whether the bucket is full at `now`. A full bucket is equal to a new one, so its owner may discard it.
  package func isFull(at now: Int64) -> Bool { fullAt.load(ordering: .relaxed) <= now }

  /// The nanoseconds until ``take(at:cost:dividedBy:)`` of one process succeeds; `nil` if it would at `now`. Takes nothing.
  package func delay(at now: Int64) -> Int64? {
    let wait = fullAt.load(ordering: .relaxed) - now - nanosecondsPerCall * (burst - 1)
    return wait > 0 ? wait : nil
  }
}

/// The number of processes that share the rate limits of callers: each of them enforces an equal part.
package final class ReplicaCount: Sendable {
  private let count = Atomic<Int64>(1)

  /// One process, until ``value`` is set.
  package init() {}

  /// The number of processes, at least 1: smaller numbers count as 1.
  package var value: Int64 {
    get { count.load(ordering: .relaxed) }
    set { count.store(max(1, newValue), ordering: .relaxed) }
  }
}
