internal import Synchronization

/// The urgency of a call. Less urgent calls leave a part of the rate limit to more urgent ones.
package enum CallPriority: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// A job over years of data, without a deadline.
  case backfill
  /// A correction of missed data.
  case repair
  /// A caller waits for the result.
  case interactive

  package static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }

  /// The share of a bucket's capacity that such a call leaves untouched.
  var reserve: Double {
    switch self {
    case .interactive: 0
    case .repair: 0.2
    case .backfill: 0.5
    }
  }
}

/// The remainder of the rate limit of one endpoint.
package struct RateLimitLevel: Hashable, Sendable {
  /// The number of calls that could be made at once now.
  package let availableCalls: Double
  /// The number of calls a second that the service allows itself.
  package let callsPerSecond: Double
  /// The number of calls that wait for the rate limit.
  package let waitingCalls: Int
}

/// Keeps the calls of one app in one environment below Apple's rate limits, with one token bucket per endpoint.
package final class RateLimiter: Sendable {
  private struct Queue {
    var bucket: TokenBucket
    /// The waiting calls, in arrival order.
    var waiting: [(ticket: UInt64, priority: CallPriority)] = []
  }

  private struct State {
    var queues: [Endpoint: Queue] = [:]
    var nextTicket: UInt64 = 0
  }

  private let share: Double
  private let clock: ClientClock
  private let state = Mutex(State())

  /// Creates a limiter for `share` of Apple's production limits.
  package init(share: Double, clock: ClientClock) {
    self.share = share
    self.clock = clock
  }

  /// Waits until a call is allowed. `deadline` is an instant of ``ClientClock/uptime``; `nil` for none.
  ///
  /// - Throws: ``AppStoreClientError/localRateLimit(endpoint:retryAfter:)`` at once if the wait would pass the
  ///   deadline; ``AppStoreClientError/cancelled``.
  package func acquire(
    _ endpoint: Endpoint, _ priority: CallPriority, deadline: Duration?
  ) async throws(AppStoreClientError) {
    let ticket = state.withLock { state in
      state.nextTicket += 1
      return state.nextTicket
    }
    defer { leaveQueue(endpoint, ticket) }
    while let wait = wait(endpoint, priority, ticket) {
      if let deadline, clock.uptime() + wait > deadline {
        throw .localRateLimit(endpoint: endpoint, retryAfter: wait)
      }
      do { try await clock.sleep(wait) } catch { throw .cancelled }
    }
  }

  /// Stops the calls of an endpoint for `duration`, because Apple reports its limit as reached.
  package func close(_ endpoint: Endpoint, for duration: Duration) {
    let now = clock.uptime()
    state.withLock { state in
      withQueue(endpoint, of: &state, at: now) { $0.bucket.close(until: now + duration) }
    }
  }

  /// The state of each endpoint called so far.
  func levels() -> [Endpoint: RateLimitLevel] {
    let now = clock.uptime()
    return state.withLock { state in
      state.queues.mapValues { queue in
        RateLimitLevel(
          availableCalls: queue.bucket.availableCalls(at: now), callsPerSecond: queue.bucket.perSecond,
          waitingCalls: queue.waiting.count)
      }
    }
  }

  /// Takes a call from the bucket and returns `nil`, or returns the time to wait.
  private func wait(_ endpoint: Endpoint, _ priority: CallPriority, _ ticket: UInt64) -> Duration? {
    let now = clock.uptime()
    return state.withLock { state in
      withQueue(endpoint, of: &state, at: now) { queue in
        let ahead = queue.waiting.count {
          $0.ticket != ticket && ($0.priority > priority || $0.priority == priority && $0.ticket < ticket)
        }
        let wait = queue.bucket.take(priority, ahead: ahead, at: now)
        let isQueued = queue.waiting.contains { $0.ticket == ticket }
        if wait != nil, !isQueued { queue.waiting.append((ticket, priority)) }
        return wait
      }
    }
  }

  private func leaveQueue(_ endpoint: Endpoint, _ ticket: UInt64) {
    state.withLock { $0.queues[endpoint]?.waiting.removeAll { $0.ticket == ticket } }
  }

  private func withQueue<Result>(
    _ endpoint: Endpoint, of state: inout State, at now: Duration, _ body: (inout Queue) -> Result
  ) -> Result {
    let full = Queue(bucket: TokenBucket(perSecond: endpoint.callsPerSecond * share, at: now))
    return body(&state.queues[endpoint, default: full])
  }
}

/// A token bucket with priorities. Its times are durations since any fixed instant.
///
/// Apple counts calls per hour against a limit per second: a constant rate with short bursts stays below it. One of three
/// token buckets, on purpose: this one is confined to the lock of ``RateLimiter``, which queues calls by priority; the one
/// of Callers is lock-free, and the sandbox's runs in simulated time.
struct TokenBucket {
  /// The capacity of a bucket, in seconds at its rate.
  static let burstSeconds: Double = 10

  let perSecond: Double
  private let capacity: Double
  private var level: Double
  private var updatedAt: Duration

  /// Creates a full bucket.
  init(perSecond: Double, at now: Duration) {
    self.perSecond = perSecond
    capacity = max(1, perSecond * Self.burstSeconds)
    level = capacity
    updatedAt = now
  }

  /// Takes a token and returns `nil`, or returns the time to wait before the next attempt. `ahead` is the number
  /// of waiting calls that go first.
  mutating func take(_ priority: CallPriority, ahead: Int, at now: Duration) -> Duration? {
    refill(at: now)
    let floor = min(priority.reserve * capacity, capacity - 1)
    let missing = floor + 1 + Double(ahead) - level
    guard missing > 0.000_001 else {
      level -= 1
      return nil
    }
    return .seconds(missing / perSecond)
  }

  /// The number of calls of the highest priority that are allowed at once.
  func availableCalls(at now: Duration) -> Double {
    var bucket = self
    bucket.refill(at: now)
    return max(0, bucket.level)
  }

  /// Empties the bucket; it fills again from `end` on.
  mutating func close(until end: Duration) {
    level = 0
    updatedAt = max(updatedAt, end)
  }

  private mutating func refill(at now: Duration) {
    guard now > updatedAt else {
      // While the bucket is closed, the missing tokens are counted from the instant at which it opens.
      if now < updatedAt { level = -(updatedAt - now).seconds * perSecond }
      return
    }
    level = min(capacity, max(0, level) + (now - updatedAt).seconds * perSecond)
    updatedAt = now
  }
}

extension Duration {
  /// The duration in seconds.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
