internal import AppStore
internal import Markup
internal import Wire

/// Texts of values, the same on every page.
enum Format {
  /// A moment in UTC to the minute. The script shows it in the person's time zone on demand.
  static func time(_ instant: Instant?) -> Markup {
    guard let instant else { return "<span class=\"quiet\">\(Text.none)</span>" }
    return "<time datetime=\"\(instant.description)\">\(minute(instant))</time>"
  }

  static func time(_ timestamp: GoogleProtobuf.Timestamp?) -> Markup { time(timestamp?.instant) }

  /// `2027-05-07 09:07`.
  static func minute(_ instant: Instant) -> String {
    let text = instant.description
    return text.prefix(10) + " " + text.dropFirst(11).prefix(5)
  }

  /// `2027-05-07 09:07 UTC`, for sentences.
  static func moment(_ instant: Instant) -> String { minute(instant) + " UTC" }

  /// `in 2 days`, `3 hours ago`.
  static func distance(to instant: Instant, from now: Instant) -> String {
    let milliseconds = instant.milliseconds(since: now)
    return milliseconds < 0 ? Text.ago(span(-milliseconds)) : Text.ahead(span(milliseconds))
  }

  /// A span in its largest whole unit.
  static func span(_ milliseconds: Int64) -> String {
    let minutes = milliseconds / 60_000
    let (number, unit) =
      minutes < 60
      ? (minutes, "minute") : minutes < 48 * 60 ? (minutes / 60, "hour") : (minutes / 1_440, "day")
    return number == 1 ? "1 \(unit)" : "\(number) \(unit)s"
  }

  /// `4.99 USD`; the currency's third decimal only if it is not 0.
  static func money(_ money: Wire.Money) -> String {
    let (whole, rest) = money.milliunits.magnitude.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(String(rest + 1_000).dropFirst())
    let decimals = digits.hasSuffix("0") ? String(digits.dropLast()) : digits
    return "\(money.milliunits < 0 ? "-" : "")\(whole).\(decimals) \(money.currency)"
  }

  /// An id that a person can copy. Isolated, so that characters of another direction do not reorder the page.
  static func id(_ text: String) -> Markup {
    "<bdi class=\"id\" data-copy=\"\(text)\">\(text)</bdi>"
  }

  /// Text from outside, isolated.
  static func name(_ text: String) -> Markup { "<bdi>\(text)</bdi>" }

  /// `in grace period` for `IN_GRACE_PERIOD`.
  static func words(_ code: String) -> String { code.lowercased().replacing("_", with: " ") }

  /// The value of an enum of the contract without the prefix of its type.
  static func value(_ value: some WireEnum, _ prefix: String) -> String {
    value.protoName.hasPrefix(prefix)
      ? words(String(value.protoName.dropFirst(prefix.count))) : value.protoName
  }

  /// A size in bytes.
  static func size(_ bytes: Int64) -> String {
    var (amount, unit) = (Double(bytes), 0)
    let units = ["B", "kB", "MB", "GB", "TB"]
    while amount >= 1_000, unit < units.count - 1 { (amount, unit) = (amount / 1_000, unit + 1) }
    return ("\(amount)" as Markup).description + " " + units[unit]
  }
}

extension GoogleProtobuf.Timestamp {
  /// `nil` for a malformed one.
  var instant: Instant? { millisecondsSince1970.map(Instant.init(millisecondsSince1970:)) }

  init(_ instant: Instant) { self.init(millisecondsSince1970: instant.millisecondsSince1970) }
}
