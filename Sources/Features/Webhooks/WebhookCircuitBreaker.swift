internal import AppStore

/// Stops sending to a failing webhook for a while. It is a value without a clock: each call gets the time.
///
/// healthy ──5 failures in a row──▶ down ──a delivery succeeds──▶ healthy
///
/// A webhook that is down is probed once a minute, so that a backlog neither floods it nor uses up the attempts of its
/// messages; new events stay in the log. `Retry-After` is honored up to an hour, and no success ends it: that of a message
/// in flight says nothing about the time after the response that demanded it.
///
/// The refusal of one message is no failure of the webhook, so that refused customers do not stop the others.
struct WebhookCircuitBreaker: Hashable, Sendable {
  /// The failures in a row after which only probes are sent.
  private static let failureThreshold = 5
  /// Milliseconds.
  private static let probeInterval: Int64 = 60_000
  /// Milliseconds.
  private static let maxRetryAfter: Int64 = 3_600_000

  private var failures = 0
  /// The messages that became overdue by the failures since the last success: those whose first attempt failed, and the
  /// one that opened the circuit. Others failed before too, so that the webhook's return says nothing about them.
  private var overdue: Set<Int64> = []
  /// The end of the longest `Retry-After`.
  private var demandedUntil: Instant?
  /// The time of the next probe of a webhook that is down.
  private var nextProbe: Instant?

  /// Whether so many deliveries in a row failed that only probes are sent.
  var isDown: Bool { failures >= Self.failureThreshold }

  /// Returns the milliseconds until the next delivery may be sent; `nil` if it may be sent now.
  func retryDelay(at now: Instant) -> Int64? {
    let delays = [
      Self.delay(demandedUntil, at: now, atMost: Self.maxRetryAfter),
      Self.delay(nextProbe, at: now, atMost: Self.probeInterval),
    ]
    return delays.compactMap(\.self).max()
  }

  /// The milliseconds until the end of a pause. A longer pause than the longest one is of a clock that was ahead, and over.
  private static func delay(_ end: Instant?, at now: Instant, atMost longest: Int64) -> Int64? {
    guard let delay = end?.milliseconds(since: now), delay > 0, delay <= longest else { return nil }
    return delay
  }

  /// Records a successful delivery.
  mutating func succeeded() { (failures, overdue, nextProbe) = (0, [], nil) }

  /// Records that the webhook refused a message. It prolongs the pause of a webhook that is down, because it does not say
  /// that the webhook is up.
  mutating func refused(at now: Instant) { awaitProbe(at: now) }

  /// Records a failed delivery of the message at `position`. `retryAfter` is the delay that the webhook demands, in
  /// milliseconds; more than an hour counts as one. A shorter one does not end a longer one that began before.
  ///
  /// - Returns: the messages that are due as soon as the webhook is up again, whatever their schedule.
  mutating func failed(
    _ position: Int64, isFirst: Bool, at now: Instant, retryAfter: Int64?
  ) -> Set<Int64> {
    failures += 1
    let opens = failures == Self.failureThreshold
    awaitProbe(at: now)
    if let retryAfter {
      // It is due when the webhook demands it.
      overdue.remove(position)
      let demanded = min(retryAfter, Self.maxRetryAfter)
      if demanded > Self.delay(demandedUntil, at: now, atMost: Self.maxRetryAfter) ?? 0 {
        demandedUntil = now.advanced(byMilliseconds: demanded)
      }
    } else if isFirst || opens {
      overdue.insert(position)
    }
    guard isDown else { return [] }
    return opens ? overdue : overdue.intersection([position])
  }

  private mutating func awaitProbe(at now: Instant) {
    if isDown { nextProbe = now.advanced(byMilliseconds: Self.probeInterval) }
  }
}

/// The times of the attempts of a message, counted from the first.
///
/// They depend on the age of the message and not on the number of attempts, so that an early attempt, such as after a
/// webhook recovered, does not shorten the days until the message becomes a dead letter.
package struct RetrySchedule: Hashable, Sendable {
  /// Milliseconds from the first attempt to each of the others.
  private let offsets: [Int64]

  /// Creates a schedule from the seconds between consecutive attempts. One without delays has no retry: the first
  /// failure makes a dead letter.
  package init(delays seconds: [Int64]) {
    var sum: Int64 = 0
    offsets = seconds.map { second in
      sum += second * 1_000
      return sum
    }
  }

  /// The schedule of Standard Webhooks ("Deliverability and reliability"): ten attempts within 76 hours.
  package static let standard = RetrySchedule(
    delays: [5, 5 * 60, 30 * 60, 2 * 3_600, 5 * 3_600, 10 * 3_600, 14 * 3_600, 20 * 3_600, 24 * 3_600])

  /// The milliseconds from an attempt to the next one at most; `Retry-After` counts up to a day.
  var longestDelay: Int64 { max(offsets.last ?? 0, Instant.millisecondsPerDay) }

  /// Returns the time of the next attempt after one failed at `now`; `nil` if the message becomes a dead letter.
  func next(after now: Instant, first: Instant) -> Instant? {
    let age = now.milliseconds(since: first)
    return offsets.first { $0 > age }.map { first.advanced(byMilliseconds: $0) }
  }
}
