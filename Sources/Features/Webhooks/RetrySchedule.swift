internal import AppStore

/// When a message that was not taken is sent again, counted from the first attempt.
///
/// By age and not by the number of attempts: whatever brings an attempt forward, such as a receiver that
/// came back, takes nothing away from the days that a message has.
package struct RetrySchedule: Hashable, Sendable {
  /// Milliseconds from the first attempt to each of the others.
  private let marks: [Int64]

  /// A schedule by the seconds between an attempt and the next.
  package init(delays seconds: [Int64]) {
    var sum: Int64 = 0
    marks = seconds.map { second in
      sum += second * 1_000
      return sum
    }
  }

  /// What Standard Webhooks suggests ("Deliverability and reliability"): ten attempts in a little over three days.
  package static let standard = RetrySchedule(
    delays: [5, 5 * 60, 30 * 60, 2 * 3_600, 5 * 3_600, 10 * 3_600, 14 * 3_600, 20 * 3_600, 24 * 3_600])

  /// When a message is sent again that was sent at `first`, and in vain again at `now`; `nil` if it is given up.
  func next(after now: Instant, first: Instant) -> Instant? {
    let age = now.milliseconds(since: first)
    return marks.first { $0 > age }.map { first.advanced(byMilliseconds: $0) }
  }
}
