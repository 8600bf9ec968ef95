internal import AppStore

/// A month of Apple's fiscal calendar, by which Apple pays.
///
/// The year ends on the last Saturday of September. A quarter has months of five, four and four weeks; in a year of 53
/// weeks, the third month has five.
package struct FiscalMonth: Hashable, Comparable, Sendable {
  /// Apple's fiscal year, by the calendar year in which it ends.
  package let year: Int64
  /// 1 to 12; 1 begins in September or October of the year before.
  package let month: Int64

  /// Creates a month; `nil` if it does not exist.
  package init?(year: Int64, month: Int64) {
    guard (1970...9998).contains(year), (1...12).contains(month) else { return nil }
    self.year = year
    self.month = month
  }

  /// Reads `2026-02`; `nil` for another text.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    guard parts.count == 2, let year = parts[0], let month = parts[1] else { return nil }
    self.init(year: year, month: month)
  }

  /// The month that contains `day`.
  package init(containing day: CalendarDay) {
    let calendarYear = day.date.year
    let year = day <= Self.lastDay(ofYear: calendarYear) ? calendarYear : calendarYear + 1
    var week = (day.number - Self.firstDay(ofYear: year).number) / 7
    var month = 0
    let lengths = Self.weeks(ofYear: year)
    while month < 11, week >= lengths[month] {
      week -= lengths[month]
      month += 1
    }
    self.year = year
    self.month = Int64(month + 1)
  }

  /// A Sunday.
  package var firstDay: CalendarDay {
    let weeks = Self.weeks(ofYear: year).prefix(Int(month - 1)).reduce(0, +)
    return Self.firstDay(ofYear: year).advanced(by: 7 * weeks)
  }

  /// A Saturday.
  package var lastDay: CalendarDay {
    firstDay.advanced(by: 7 * Self.weeks(ofYear: year)[Int(month - 1)] - 1)
  }

  package static func < (left: FiscalMonth, right: FiscalMonth) -> Bool {
    (left.year, left.month) < (right.year, right.month)
  }

  private static func weeks(ofYear year: Int64) -> [Int64] {
    let days = lastDay(ofYear: year).number - firstDay(ofYear: year).number + 1
    return [5, 4, days == 371 ? 5 : 4, 5, 4, 4, 5, 4, 4, 5, 4, 4]
  }

  private static func firstDay(ofYear year: Int64) -> CalendarDay {
    lastDay(ofYear: year - 1).advanced(by: 1)
  }

  /// The last Saturday of September.
  private static func lastDay(ofYear year: Int64) -> CalendarDay {
    var time = CalendarDay(number: 0).date
    (time.year, time.month, time.day) = (year, 9, 30)
    let end = CalendarDay(number: time.instant.millisecondsSince1970 / CalendarDay.length)
    return end.advanced(by: -((end.weekday + 1) % 7))
  }
}

extension FiscalMonth: CustomStringConvertible {
  /// As in `2026-02`.
  package var description: String { "\(year)-\(month < 10 ? "0" : "")\(month)" }
}
