/// `google.protobuf.Timestamp` as text: RFC 3339 in UTC, years 1 to 9999.
enum TimestampText {
  /// The seconds of these years.
  private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  /// Without a fraction, or with three, six or nine digits.
  static func text(of timestamp: GoogleProtobuf.Timestamp) -> String {
    let seconds = min(max(timestamp.seconds, range.lowerBound), range.upperBound)
    let day = seconds.floorDivided(by: 86_400)
    let (year, month, dayOfMonth) = date(ofDay: day)
    let second = seconds - day * 86_400
    let time = [second / 3600, second / 60 % 60, second % 60].map { $0.padded(2) }.joined(separator: ":")
    let fraction = Fraction.text(of: timestamp.nanos)
    return "\(year.padded(4))-\(month.padded(2))-\(dayOfMonth.padded(2))T\(time)\(fraction)Z"
  }

  /// Parses `YYYY-MM-DDThh:mm:ss[.fraction](Z|±hh:mm)`; `nil` for other texts.
  static func timestamp(_ text: String) -> GoogleProtobuf.Timestamp? {
    var scanner = DigitScanner(text)
    guard let year = scanner.digits(4), scanner.take("-"), let month = scanner.digits(2), scanner.take("-"),
      let day = scanner.digits(2), scanner.take("T"), let hour = scanner.digits(2), scanner.take(":"),
      let minute = scanner.digits(2), scanner.take(":"), let second = scanner.digits(2),
      let nanos = scanner.fraction(), let offset = scanner.zone(), scanner.isAtEnd,
      1...12 ~= month, day >= 1, hour < 24, minute < 60, second < 60
    else { return nil }
    let days = dayNumber(year: year, month: month, day: day)
    guard date(ofDay: days) == (year, month, day) else { return nil }
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    guard range ~= seconds else { return nil }
    return .with { ($0.seconds, $0.nanos) = (seconds, Int32(nanos)) }
  }

  /// Days since 1970-01-01 in the proleptic Gregorian calendar. Years start in March, so that the leap day is
  /// their last day (Howard Hinnant, "chrono-compatible low-level date algorithms").
  private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.floorDivided(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(ofDay number: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let day = number + 719_468
    let era = day.floorDivided(by: 146_097)
    let dayOfEra = day - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}

extension Int64 {
  fileprivate func floorDivided(by divisor: Int64) -> Int64 {
    self / divisor - (self % divisor < 0 ? 1 : 0)
  }

  fileprivate func padded(_ width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
