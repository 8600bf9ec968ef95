internal import AppStore

/// How long the catalog's periods take in the sandbox.
enum TimeScale: Hashable, Sendable {
  /// As long as they say.
  case calendar
  /// A month takes that many milliseconds, a year twelve times and a week three fifths of that, as in Apple's
  /// sandbox, where a month is five minutes, a year an hour and a week three minutes.
  case compressed(month: Int64)

  /// Renewals after which a compressed subscription ends as if cancelled, as in Apple's sandbox.
  static let maxRenewals = 12

  func end(of period: Period, from start: Instant) -> Instant {
    switch self {
    case .calendar: start.advanced(by: period)
    case .compressed(let month):
      start.advanced(byMilliseconds: period.months * month + length(days: period.days))
    }
  }

  /// When a renewal is charged: an hour before the period ends, as Apple does it within the last 24.
  func chargeDate(before end: Instant) -> Instant { end.advanced(byMilliseconds: -length(days: 1) / 24) }

  /// Milliseconds of some days of grace, retry or extension.
  func length(days: Int64) -> Int64 {
    switch self {
    case .calendar: days * 86_400_000
    case .compressed(let month): days * month * 3 / 35
    }
  }
}
