/// A token bucket for calls to Apple, which refills at a constant rate.
///
/// Apple counts by the hour; calls at its average rate, with small bursts, never reach its limit. One of three token
/// buckets, on purpose: this one is confined to the lock of ``RateLimiter``, which queues calls by priority; the one of
/// Callers is lock-free, and the sandbox's runs in simulated time. Times count from any fixed instant.
struct TokenBucket {
  /// How many calls may be made at once after a pause.
  static let burstSeconds: Double = 10

  private let perSecond: Double
  private let capacity: Double
  private var level: Double
  private var updatedAt: Duration

  /// A full bucket.
  init(perSecond: Double, at now: Duration) {
    self.perSecond = perSecond
    capacity = max(1, perSecond * Self.burstSeconds)
    level = capacity
    updatedAt = now
  }

  /// Takes one call out.
  ///
  /// - `ahead`: how many wait who come first.
  /// Returns `nil` if it was taken; else how long to wait before asking again.
  mutating func take(_ priority: CallPriority, behind ahead: Int, at now: Duration) -> Duration? {
    refill(at: now)
    let floor = min(priority.reserve * capacity, capacity - 1)
    let missing = floor + 1 + Double(ahead) - level
    guard missing > 0.000_001 else {
      level -= 1
      return nil
    }
    return .seconds(missing / perSecond)
  }

  /// How many calls of the highest priority it allows at once.
  func calls(at now: Duration) -> Double {
    var bucket = self
    bucket.refill(at: now)
    return max(0, bucket.level)
  }

  /// Empties the bucket until `moment`: Apple says that the budget is used up.
  mutating func close(until moment: Duration) {
    level = 0
    updatedAt = max(updatedAt, moment)
  }

  private mutating func refill(at now: Duration) {
    guard now > updatedAt else {
      // Closed for now: what is missing is counted from the moment at which it opens.
      if now < updatedAt { level = -(updatedAt - now).seconds * perSecond }
      return
    }
    level = min(capacity, max(0, level) + (now - updatedAt).seconds * perSecond)
    updatedAt = now
  }
}

extension Duration {
  /// As a number of seconds.
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
