/// A calendar duration as Apple writes it, an ISO 8601 duration such as `P1M`, `P1Y`, `P7D` or `P2W`.
///
/// Its length depends on the start, because months and years are calendar units.
package struct Period: Hashable, Sendable, CustomStringConvertible {
  /// Whole calendar months; a year is twelve.
  package let months: Int64
  /// Whole days; a week is seven.
  package let days: Int64

  /// The text as it was parsed.
  package let description: String

  /// A number of calendar months.
  package init(months: Int64) {
    self.months = months
    days = 0
    description = "P\(months)M"
  }

  /// Parses years, months, weeks and days, in this order. `nil` for any other text, for an empty duration and
  /// for numbers of more than four digits.
  package init?(_ text: String) {
    var months: Int64 = 0
    var days: Int64 = 0
    var rest = text.utf8[...]
    guard rest.popFirst() == UInt8(ascii: "P"), !rest.isEmpty else { return nil }
    var units: ArraySlice<UInt8> = [
      UInt8(ascii: "Y"), UInt8(ascii: "M"), UInt8(ascii: "W"), UInt8(ascii: "D"),
    ]
    while !rest.isEmpty {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      rest = rest.dropFirst(digits.count)
      guard (1...4).contains(digits.count), let number = Int64(String(Substring(digits))),
        let unit = rest.popFirst(), let position = units.firstIndex(of: unit)
      else { return nil }
      units = units[(position + 1)...]
      switch position {
      case 0: months += number * 12
      case 1: months += number
      case 2: days += number * 7
      default: days += number
      }
    }
    guard months > 0 || days > 0 else { return nil }
    self.months = months
    self.days = days
    self.description = text
  }
}

extension Instant {
  /// The instant one period later: first the months by the calendar, then the days.
  package func advanced(by period: Period) -> Instant {
    // Days need no calendar.
    let month = period.months == 0 ? self : CalendarTime(self).advanced(byMonths: period.months).instant
    return month.advanced(byDays: period.days)
  }
}
