package import AppStore

/// A day of a report, in the zone of the report.
package struct CalendarDay: Hashable, Comparable, Sendable {
  /// Days since 1970-01-01; negative for earlier days.
  package let number: Int64

  package init(number: Int64) { self.number = number }

  /// Reads the three spellings of Apple's reports: `2026-10-24`, `20261024` and `10/24/2026`; `nil` for another text.
  package init?(_ text: String) {
    let parts: [Substring]
    if text.contains("/") {
      let usual = text.split(separator: "/", omittingEmptySubsequences: false)
      guard usual.count == 3 else { return nil }
      parts = [usual[2], usual[0], usual[1]]
    } else if text.contains("-") {
      parts = text.split(separator: "-", omittingEmptySubsequences: false)
    } else {
      guard text.utf8.count == 8 else { return nil }
      parts = [text.prefix(4), text.dropFirst(4).prefix(2), text.suffix(2)]
    }
    let numbers = parts.compactMap { Int64($0) }
    guard parts.count == 3, numbers.count == 3,
      let time = CalendarTime(
        year: numbers[0], month: numbers[1], day: numbers[2], millisecondOfDay: 0)
    else { return nil }
    number = time.instant.millisecondsSince1970 / Self.length
  }

  static let length = Instant.millisecondsPerDay

  package static func < (left: CalendarDay, right: CalendarDay) -> Bool { left.number < right.number }

  /// Returns the day that many days later, or earlier for a negative number.
  package func advanced(by days: Int64) -> CalendarDay { CalendarDay(number: number + days) }

  /// 0 is Sunday.
  var weekday: Int64 {
    // 1970-01-01 was a Thursday.
    let day = (number + 4) % 7
    return day < 0 ? day + 7 : day
  }

  var date: CalendarTime { CalendarTime(Instant(millisecondsSince1970: number * Self.length)) }
  /// As Sales and Finance reports have it: `10/24/2026`.
  package var usualText: String {
    let parts = description.split(separator: "-")
    return "\(parts[1])/\(parts[2])/\(parts[0])"
  }
}

extension CalendarDay: CustomStringConvertible {
  /// As in `2026-10-24`.
  package var description: String {
    String(Instant(millisecondsSince1970: number * Self.length).description.prefix(10))
  }
}

/// The zone in which a report divides time into days.
package enum ReportZone: String, Hashable, Sendable, CaseIterable {
  /// `America/Los_Angeles` with daylight saving time, the zone of Apple's worldwide reports.
  case pacific
  case utc

  /// The day that contains `instant`.
  package func day(of instant: Instant) -> CalendarDay {
    let local = instant.advanced(byMilliseconds: offset(at: instant)).millisecondsSince1970
    let (days, rest) = local.quotientAndRemainder(dividingBy: CalendarDay.length)
    return CalendarDay(number: rest < 0 ? days - 1 : days)
  }

  /// The first instant of a day.
  package func start(of day: CalendarDay) -> Instant {
    let midnight = Instant(millisecondsSince1970: day.number * CalendarDay.length)
    // The clocks change at two o'clock, so midnight has the offset of the day before.
    let before = midnight.advanced(byMilliseconds: -offset(at: midnight))
    return midnight.advanced(byMilliseconds: -offset(at: before))
  }

  /// Local time less UTC, in milliseconds.
  private func offset(at instant: Instant) -> Int64 {
    guard self == .pacific else { return 0 }
    let year = CalendarTime(instant).year
    // Since 2007, from the second Sunday of March, 2:00 (10:00 UTC), to the first Sunday of November, 2:00 (9:00 UTC).
    let summer = Self.sunday(2, ofMonth: 3, year).advanced(byMilliseconds: 10 * Self.hour)
    let winter = Self.sunday(1, ofMonth: 11, year).advanced(byMilliseconds: 9 * Self.hour)
    return (summer <= instant && instant < winter ? -7 : -8) * Self.hour
  }

  private static let hour: Int64 = 3_600_000

  /// The start, in UTC, of the `count`-th Sunday of a month.
  private static func sunday(_ count: Int64, ofMonth month: Int64, _ year: Int64) -> Instant {
    var time = CalendarTime(Instant(millisecondsSince1970: 0))
    (time.year, time.month, time.day) = (year, month, 1)
    let first = CalendarDay(number: time.instant.millisecondsSince1970 / CalendarDay.length)
    let sunday = first.advanced(by: (7 - first.weekday) % 7 + 7 * (count - 1))
    return Instant(millisecondsSince1970: sunday.number * CalendarDay.length)
  }
}
