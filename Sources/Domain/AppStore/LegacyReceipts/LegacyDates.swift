package import JSON

extension JSONObject {
  /// Adds a date, if present, in the three formats of `verifyReceipt`: GMT, milliseconds and Pacific time.
  package mutating func add(legacyDate date: Instant?, as name: String) {
    guard let date else { return }
    self[name] = .string("\(date.legacyText) Etc/GMT")
    self["\(name)_ms"] = .string(String(date.millisecondsSince1970))
    self["\(name)_pst"] = .string("\(date.inPacificTime.legacyText) America/Los_Angeles")
  }
}

extension JSONValue {
  /// A date in milliseconds since 1970, as in Apple's signed documents.
  package init(_ date: Instant) { self.init(date.millisecondsSince1970) }
}

extension Instant {
  /// The date and time in UTC to the second, in the format of `verifyReceipt`.
  package var legacyText: String {
    let text = description
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
  }

  /// The local time in California, as an instant whose UTC fields show it.
  ///
  /// Follows the rule since 2007: daylight saving time from the second Sunday in March to the first Sunday in
  /// November, both at 02:00 local time.
  fileprivate var inPacificTime: Instant {
    let standard = advanced(byMilliseconds: -8 * 3_600_000)
    let year = CalendarTime(standard).year
    guard let start = Instant.sunday(2, month: 3, year: year),
      let end = Instant.sunday(1, month: 11, year: year)
    else { return standard }
    // Both changes are at 02:00 on the clock before the change; in November that is 01:00 standard time.
    let isDaylight =
      standard >= start.advanced(byMilliseconds: 2 * 3_600_000)
      && standard < end.advanced(byMilliseconds: 3_600_000)
    return isDaylight ? standard.advanced(byMilliseconds: 3_600_000) : standard
  }

  /// Midnight of the first or second Sunday of a month.
  private static func sunday(_ ordinal: Int64, month: Int64, year: Int64) -> Instant? {
    guard
      let first = CalendarTime(year: year, month: month, day: 1, millisecondOfDay: 0)?.instant
    else { return nil }
    let day = Instant.millisecondsPerDay
    // 1970-01-01 was a Thursday, so the third day after it a Sunday.
    let weekday = (first.millisecondsSince1970 / day + 4) % 7
    return first.advanced(byMilliseconds: ((7 - weekday) % 7 + (ordinal - 1) * 7) * day)
  }
}
