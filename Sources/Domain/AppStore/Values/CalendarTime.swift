/// An instant as a date and time of the proleptic Gregorian calendar in UTC.
///
/// Pure arithmetic, so that the domain depends on neither a time zone database nor a clock.
package struct CalendarTime: Hashable, Sendable {
  /// In the Gregorian calendar, also before its introduction.
  package var year: Int64
  /// 1 to 12.
  package var month: Int64
  /// 1 to 31.
  package var day: Int64
  /// 0 to 86 399 999.
  package var millisecondOfDay: Int64

  /// The date and time of `instant`.
  package init(_ instant: Instant) {
    let (days, rest) = floorDivision(instant.millisecondsSince1970, Instant.millisecondsPerDay)
    // Days are counted from 0000-03-01 in eras of 400 years, so that the leap day is a year's last.
    let (era, dayOfEra) = floorDivision(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    millisecondOfDay = rest
  }

  /// Creates a date and time; `nil` if it does not exist or the year is outside -9999 to 9999.
  package init?(year: Int64, month: Int64, day: Int64, millisecondOfDay: Int64) {
    guard (-9999...9999).contains(year), (1...12).contains(month),
      (1...Self.days(inMonth: month, of: year)).contains(day),
      (0..<Instant.millisecondsPerDay).contains(millisecondOfDay)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.millisecondOfDay = millisecondOfDay
  }

  /// The instant of this date and time.
  package var instant: Instant {
    let (era, yearOfEra) = floorDivision(month <= 2 ? year - 1 : year, 400)
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return Instant(millisecondsSince1970: days * Instant.millisecondsPerDay + millisecondOfDay)
  }

  /// The same day and time `months` later; the last day of the month if it has no such day.
  package func advanced(byMonths months: Int64) -> CalendarTime {
    var result = self
    let (years, monthIndex) = floorDivision(month - 1 + months, 12)
    result.year = year + years
    result.month = monthIndex + 1
    result.day = min(day, Self.days(inMonth: result.month, of: result.year))
    return result
  }

  private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

/// Division that rounds towards minus infinity, with a remainder that is never negative.
private func floorDivision(_ dividend: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
  let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
