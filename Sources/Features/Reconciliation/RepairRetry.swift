internal import AppStore

/// When a repair runs again whose lookups of single purchases failed. Its other purchases are looked up by then, and other
/// repairs run meanwhile.
///
/// It is in memory only: after a restart, the repair runs at once, and its attempts are counted again.
struct RepairRetry: Hashable, Sendable {
  private static let minute: Int64 = 60_000
  /// The pauses before the second and each further attempt: Apple reports most errors that a retry overcomes for a moment.
  private static let pauses = [minute, 4 * minute, 16 * minute, 64 * minute]

  private var failures = 0
  private var failedAt = Instant(millisecondsSince1970: 0)
  /// The time of the next attempt.
  private(set) var dueAt = Instant(millisecondsSince1970: 0)

  /// Whether the next attempt is the last one.
  var isLast: Bool { failures >= Self.pauses.count }

  /// Whether the next attempt is due. A clock that was set back does not delay it.
  func isDue(at now: Instant) -> Bool { dueAt <= now || now < failedAt }

  /// Postpones the next attempt after a failure at `instant`.
  mutating func fail(at instant: Instant) {
    failures += 1
    failedAt = instant
    dueAt = instant.advanced(byMilliseconds: Self.pauses[min(failures, Self.pauses.count) - 1])
  }
}
