package import AppStore

/// A day in UTC, the smallest bucket of a report.
///
/// A day closes some hours after its end (``ReportPolicy/closeAfter``). Everything that was known before that instant is
/// in its first closing; later evidence makes a revision of the day.
package struct ReportDay: Hashable, Comparable, Sendable {
  /// Days since 1970-01-01; negative for earlier days.
  package let number: Int64

  /// In milliseconds.
  package static let length = Instant.millisecondsPerDay

  package init(number: Int64) { self.number = number }

  /// The day that contains `instant`.
  package init(_ instant: Instant) {
    number = Self.floor(instant.millisecondsSince1970)
  }

  /// The first day whose closing includes what became known at `instant`, if days close `delay` milliseconds after
  /// their end.
  package init(closingAfter instant: Instant, delay: Int64) {
    number = Self.floor(instant.advanced(byMilliseconds: -delay).millisecondsSince1970)
  }

  /// The first instant of the day.
  package var start: Instant { Instant(millisecondsSince1970: number * Self.length) }
  /// The exclusive end: the start of the next day.
  package var end: Instant { Instant(millisecondsSince1970: (number + 1) * Self.length) }
  /// The instant at which the day closes, `delay` milliseconds after its end.
  package func closing(after delay: Int64) -> Instant { end.advanced(byMilliseconds: delay) }

  package static func < (left: ReportDay, right: ReportDay) -> Bool { left.number < right.number }

  /// Returns the day that many days later, or earlier for a negative number.
  package func advanced(by days: Int64) -> ReportDay { ReportDay(number: number + days) }

  /// The first day of the calendar month that contains this day.
  package var firstOfMonth: ReportDay { Granularity.month.firstDay(of: self) }

  private static func floor(_ milliseconds: Int64) -> Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: length)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

/// The length of the buckets of a report. Weeks begin on Monday.
///
/// The raw values are the bits of stored marks (``Posting/marks``): append new ones, and never change one.
package enum Granularity: Int64, Hashable, Sendable, CaseIterable {
  /// A day in UTC.
  case day
  /// Seven days from Monday on (ISO 8601).
  case week
  /// A calendar month.
  case month
  /// Three calendar months, from January, April, July or October on.
  case quarter
  /// A calendar year.
  case year

  /// The first day of the bucket that contains `day`.
  package func firstDay(of day: ReportDay) -> ReportDay {
    switch self {
    case .day: return day
    case .week:
      // 1970-01-01 was a Thursday.
      let sinceMonday = (day.number + 3) % 7
      return day.advanced(by: -(sinceMonday < 0 ? sinceMonday + 7 : sinceMonday))
    case .month, .quarter, .year: return firstDay(of: day, CalendarTime(day.start))
    }
  }

  /// The first day of the bucket that contains `day`, whose date is `date`. To find it for several granularities, the date is
  /// computed once.
  func firstDay(of day: ReportDay, _ date: CalendarTime) -> ReportDay {
    switch self {
    case .day, .week: return firstDay(of: day)
    case .month: return day.advanced(by: 1 - date.day)
    case .quarter, .year:
      var time = date
      time.day = 1
      if self == .quarter { time.month -= (time.month - 1) % 3 }
      if self == .year { time.month = 1 }
      return ReportDay(time.instant)
    }
  }

  /// The first day of the bucket after the one that contains `day`.
  package func firstDay(after day: ReportDay) -> ReportDay {
    let first = firstDay(of: day)
    return switch self {
    case .day: first.advanced(by: 1)
    case .week: first.advanced(by: 7)
    case .month: first.advanced(byMonths: 1)
    case .quarter: first.advanced(byMonths: 3)
    case .year: first.advanced(byMonths: 12)
    }
  }
}

extension ReportDay {
  /// The same day of the month `months` later; the last day of that month if it has no such day.
  package func advanced(byMonths months: Int64) -> ReportDay {
    ReportDay(CalendarTime(start).advanced(byMonths: months).instant)
  }

  /// The number of calendar months from the month of `earlier` to the month of this day.
  package func months(since earlier: ReportDay) -> Int64 {
    let (from, to) = (CalendarTime(earlier.start), CalendarTime(start))
    return (to.year - from.year) * 12 + to.month - from.month
  }
}
