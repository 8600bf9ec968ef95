/// `google.protobuf.Duration` as text: seconds with up to nine decimals and an `s`.
enum DurationText {
  /// In seconds: about ten thousand years, the limit of protobuf.
  private static let limit: Int64 = 315_576_000_000

  static func text(of duration: GoogleProtobuf.Duration) -> String {
    let sign = duration.seconds < 0 || duration.nanos < 0 ? "-" : ""
    return "\(sign)\(duration.seconds.magnitude)\(Fraction.text(of: duration.nanos))s"
  }

  /// Parses `[-]digits[.digits]s`; `nil` for other texts.
  static func duration(_ text: String) -> GoogleProtobuf.Duration? {
    var scanner = DigitScanner(text)
    let sign: Int64 = scanner.take("-") ? -1 : 1
    guard let seconds = scanner.digits(), let nanos = scanner.fraction(), scanner.take("s"), scanner.isAtEnd,
      seconds <= limit
    else { return nil }
    return .with { ($0.seconds, $0.nanos) = (sign * seconds, Int32(sign * nanos)) }
  }
}

/// The decimals of a second.
enum Fraction {
  /// Empty for zero, otherwise a point and three, six or nine digits.
  static func text(of nanos: Int32) -> String {
    let digits = String(nanos.magnitude)
    guard nanos != 0, digits.count <= 9 else { return "" }
    var padded = String(repeating: "0", count: 9 - digits.count) + digits
    while padded.hasSuffix("000") { padded.removeLast(3) }
    return ".\(padded)"
  }
}

/// Parses the parts of times and durations from the start of a text.
struct DigitScanner {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  /// Consumes `character` if it is next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let next = rest.first, UInt32(next) == character.value else { return false }
    rest.removeFirst()
    return true
  }

  /// Consumes exactly `count` digits, or one to twelve without a count.
  mutating func digits(_ count: Int? = nil) -> Int64? {
    let digits = rest.prefix(count ?? 12).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    guard !digits.isEmpty, count == nil || digits.count == count else { return nil }
    rest.removeFirst(digits.count)
    return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  /// Consumes a point with one to nine digits and returns them as nanoseconds; 0 without a point.
  mutating func fraction() -> Int64? {
    guard take(".") else { return 0 }
    let before = rest.count
    guard let digits = digits() else { return nil }
    let count = before - rest.count
    guard count <= 9 else { return nil }
    return (count..<9).reduce(digits) { value, _ in value * 10 }
  }

  /// Consumes `Z` or `±hh:mm`, and returns the seconds east of UTC.
  mutating func zone() -> Int64? {
    if take("Z") { return 0 }
    let sign: Int64
    if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
    guard let hours = digits(2), take(":"), let minutes = digits(2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 3600 + minutes * 60)
  }
}
