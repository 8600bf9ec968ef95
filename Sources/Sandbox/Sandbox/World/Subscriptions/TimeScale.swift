internal import AppStore

/// The length of periods in simulated time.
enum TimeScale: Hashable, Sendable {
  /// As in the calendar.
  case calendar
  /// A month takes `month` milliseconds, as in Apple's sandbox.
  case compressed(month: Int64)
  /// Every period takes a day (App Store Connect Help: "Testing subscriptions and in-app purchases in TestFlight").
  case testFlight

  /// The lengths of a month that a tester can choose, in milliseconds: a second to a year.
  static let months: ClosedRange<Int64> = 1000...366 * Instant.millisecondsPerDay

  /// Milliseconds per month if periods are compressed.
  var compressedMonth: Int64? { if case .compressed(let month) = self { month } else { nil } }

  /// The number of renewals after which a subscription ends: 12 in Apple's sandbox ("Testing an auto-renewable
  /// subscription"), 6 in TestFlight.
  var maxRenewals: Int? {
    switch self {
    case .calendar: nil
    case .compressed: 12
    case .testFlight: 6
    }
  }

  /// Returns the end of a period that begins at `start`.
  func end(of period: Period, from start: Instant) -> Instant {
    switch self {
    case .calendar: start.advanced(by: period)
    case .compressed(let month):
      start.advanced(byMilliseconds: period.months * month + period.days * Self.week(ofMonth: month) / 7)
    case .testFlight: start.advanced(byDays: 1)
    }
  }

  /// Returns milliseconds for days of billing retry, an extension or a notice. Billing retry of 60 days takes two
  /// months (Apple: SKTestSession.TimeRate, whose rates equal the sandbox's).
  func length(days: Int64) -> Int64 {
    switch self {
    case .calendar: days * Instant.millisecondsPerDay
    case .compressed(let month): days * month / 30
    case .testFlight: days * Instant.millisecondsPerDay / 30
    }
  }

  /// Returns milliseconds for days of a grace period: 16 days take half a month, and 6 days of a weekly subscription
  /// take six sevenths of a week (Apple: SKTestSession.TimeRate, whose rates equal the sandbox's).
  func grace(days: Int64, isWeekly: Bool) -> Int64 {
    guard case .compressed(let month) = self else { return length(days: days) }
    if isWeekly { return days * Self.week(ofMonth: month) / 7 }
    return days == 16 ? month / 2 : length(days: days)
  }

  /// The length of a week for each rate that a tester account can choose (App Store Connect Help: "Manage Sandbox
  /// Apple Account settings"); for other lengths of a month it is in proportion to the default rate.
  private static func week(ofMonth month: Int64) -> Int64 {
    let minute: Int64 = 60_000
    return switch month {
    case 3 * minute: 3 * minute
    case 15 * minute: 5 * minute
    case 30 * minute: 10 * minute
    case 60 * minute: 15 * minute
    default: month * 3 / 5
    }
  }
}

extension World {
  /// The rate of an account: its own, otherwise that of the world.
  func scale(of account: String) -> TimeScale { accounts[account]?.scale ?? scale }
}
