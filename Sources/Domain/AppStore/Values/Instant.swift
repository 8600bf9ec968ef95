/// An instant with millisecond precision, the precision of every date in Apple's documents.
package struct Instant: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z without leap seconds; negative for earlier instants.
  package var millisecondsSince1970: Int64

  @inlinable package init(millisecondsSince1970: Int64) {
    self.millisecondsSince1970 = millisecondsSince1970
  }

  /// The earliest instant: the bound of a search or comparison without a start.
  @inlinable package static var distantPast: Instant { Instant(millisecondsSince1970: .min) }

  /// The latest instant: the bound of a search or comparison without an end.
  @inlinable package static var distantFuture: Instant { Instant(millisecondsSince1970: .max) }

  /// The instant `milliseconds` later, or earlier if negative; saturates at the bounds of `Int64`.
  package func advanced(byMilliseconds milliseconds: Int64) -> Instant {
    let (sum, overflow) = millisecondsSince1970.addingReportingOverflow(milliseconds)
    guard overflow else { return Instant(millisecondsSince1970: sum) }
    return milliseconds > 0 ? .distantFuture : .distantPast
  }

  /// The length of every day in UTC, because instants count no leap seconds.
  @inlinable package static var millisecondsPerDay: Int64 { 86_400_000 }

  /// The instant that many times 24 hours later, or earlier if negative.
  package func advanced(byDays days: Int64) -> Instant {
    advanced(byMilliseconds: days * Self.millisecondsPerDay)
  }

  /// The milliseconds from `earlier` to this instant; saturates at the bounds of `Int64`.
  package func milliseconds(since earlier: Instant) -> Int64 {
    let (difference, overflow) = millisecondsSince1970.subtractingReportingOverflow(
      earlier.millisecondsSince1970)
    guard overflow else { return difference }
    return earlier.millisecondsSince1970 < 0 ? .max : .min
  }

  @inlinable package static func < (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 < right.millisecondsSince1970
  }

  // Called for each interval of large customers. The defaults derived from < go through the protocol witness, which
  // costs a third of the evaluation time.
  @inlinable package static func <= (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 <= right.millisecondsSince1970
  }

  @inlinable package static func > (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 > right.millisecondsSince1970
  }

  @inlinable package static func >= (left: Instant, right: Instant) -> Bool {
    left.millisecondsSince1970 >= right.millisecondsSince1970
  }
}

extension Instant: CustomStringConvertible {
  /// RFC 3339 in UTC with milliseconds, such as `2026-01-01T00:00:00.000Z`.
  package var description: String {
    let time = CalendarTime(self)
    let (minutes, millisecond) = time.millisecondOfDay.quotientAndRemainder(dividingBy: 60_000)
    let year = (time.year < 0 ? "-" : "") + padded(abs(time.year), 4)
    let day = "\(year)-\(padded(time.month, 2))-\(padded(time.day, 2))"
    let clock = "\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2)):\(padded(millisecond / 1000, 2))"
    return "\(day)T\(clock).\(padded(millisecond % 1000, 3))Z"
  }

  /// Parses an RFC 3339 date and time with any offset; digits beyond the millisecond are cut off. `nil` for
  /// any other text, including leap seconds and dates that do not exist.
  package init?(rfc3339 text: String) {
    var reader = DigitReader(rest: text.utf8[...])
    guard let year = reader.number(digits: 4), reader.skip("-"),
      let month = reader.number(digits: 2), reader.skip("-"),
      let day = reader.number(digits: 2), reader.skip("T") || reader.skip("t"),
      let milliseconds = reader.timeOfDay(), let offset = reader.offset(), reader.rest.isEmpty,
      let time = CalendarTime(year: year, month: month, day: day, millisecondOfDay: milliseconds)
    else { return nil }
    self = time.instant.advanced(byMilliseconds: -offset)
  }
}

/// Parses fixed-width digits from the front of a text.
private struct DigitReader {
  var rest: Substring.UTF8View

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(digits: Int) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<digits {
      guard let digit = nextDigit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  /// `hh:mm:ss` with an optional fraction, in milliseconds.
  mutating func timeOfDay() -> Int64? {
    guard let hour = number(digits: 2), hour < 24, skip(":"),
      let minute = number(digits: 2), minute < 60, skip(":"),
      let second = number(digits: 2), second < 60
    else { return nil }
    let milliseconds = ((hour * 60 + minute) * 60 + second) * 1000
    guard skip(".") else { return milliseconds }
    guard let tenths = nextDigit() else { return nil }
    let fraction = tenths * 100 + (nextDigit() ?? 0) * 10 + (nextDigit() ?? 0)
    while nextDigit() != nil {}
    return milliseconds + fraction
  }

  /// `Z`, or an offset such as `+01:00`, in milliseconds east of UTC.
  mutating func offset() -> Int64? {
    if skip("Z") || skip("z") { return 0 }
    let sign: Int64
    if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
    guard let hours = number(digits: 2), hours < 24, skip(":"),
      let minutes = number(digits: 2), minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes) * 60_000
  }

  private mutating func nextDigit() -> Int64? {
    guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
    rest.removeFirst()
    return Int64(byte - UInt8(ascii: "0"))
  }
}

/// The decimal digits of a non-negative number, padded with zeros on the left.
private func padded(_ number: Int64, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
