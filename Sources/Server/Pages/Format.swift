package import AppStore
package import Markup

/// Texts of values, the same on every page.
package enum Format {
  /// A moment in UTC to the minute. The script shows it in the person's time zone on demand.
  package static func time(_ instant: Instant?) -> Markup {
    guard let instant else { return "<span class=\"quiet\">\(Text.none)</span>" }
    return "<time datetime=\"\(instant.description)\">\(minute(instant))</time>"
  }

  /// `2027-05-07 09:07`.
  package static func minute(_ instant: Instant) -> String {
    let text = instant.description
    return text.prefix(10) + " " + text.dropFirst(11).prefix(5)
  }

  /// `2027-05-07 09:07 UTC`, for sentences.
  package static func minuteUTC(_ instant: Instant) -> String { minute(instant) + " UTC" }

  /// A sentence in which each ``minuteUTC(_:)`` is a time that the script can show in the person's time zone.
  package static func sentence(_ text: String) -> Markup {
    var words = text.split(separator: " ", omittingEmptySubsequences: false)[...]
    var parts: [Markup] = []
    while let word = words.popFirst() {
      guard let clock = words.first, let zone = words.dropFirst().first, zone.hasPrefix("UTC"),
        let instant = Instant(rfc3339: "\(word)T\(clock):00Z")
      else {
        parts.append("\(String(word))")
        continue
      }
      parts.append(
        "<span class=\"moment-text\">\(time(instant)) <span data-zone>UTC</span></span>\(String(zone.dropFirst(3)))"
      )
      words = words.dropFirst(2)
    }
    return parts.joined(separator: " ")
  }

  /// A span in its largest whole unit.
  package static func span(_ milliseconds: Int64) -> String {
    let minutes = milliseconds / 60_000
    if minutes == 0, milliseconds > 0 { return Text.underOneMinute }
    if minutes < 60 { return Text.minutes(minutes) }
    return minutes < 48 * 60 ? Text.hours(minutes / 60) : Text.days(minutes / 1_440)
  }

  /// `1 month`, `2 weeks`, `90 days`.
  package static func period(_ period: Period) -> String {
    let months = period.months
    let calendar =
      months == 0
      ? nil : months % 12 == 0 ? Text.yearCount(months / 12) : Text.monthCount(months)
    let days = period.days
    let rest = days == 0 ? nil : days % 7 == 0 ? Text.weekCount(days / 7) : Text.days(days)
    return [calendar, rest].compactMap(\.self).joined(separator: ", ")
  }

  /// `4.99 USD` for thousandths of the currency; the third decimal only if it is not 0.
  package static func money(milliunits: Int64, _ currency: String) -> String {
    let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(String(rest + 1_000).dropFirst())
    let decimals = digits.hasSuffix("0") ? String(digits.dropLast()) : digits
    return "\(milliunits < 0 ? "-" : "")\(whole).\(decimals) \(currency)"
  }

  /// An id that a person can copy. Isolated, so that characters of another direction do not reorder the page.
  package static func id(_ text: String) -> Markup {
    "<bdi class=\"id\(hasLongWord(text) ? " long" : "")\" data-copy=\"\(text)\">\(withVisibleSpaces(text))</bdi>"
  }

  /// Text from outside, isolated.
  package static func name(_ text: String) -> Markup {
    hasLongWord(text)
      ? "<bdi class=\"long\">\(withVisibleSpaces(text))</bdi>" : "<bdi>\(withVisibleSpaces(text))</bdi>"
  }

  /// The text in which white space at the ends can be seen: a customer whose id has it is not the one without it.
  private static func withVisibleSpaces(_ text: String) -> Markup {
    guard text.hasOuterSpace else { return "\(text)" }
    let scalars = text.unicodeScalars
    let rest = scalars.drop(while: \.properties.isWhitespace)
    let end =
      rest.lastIndex { !$0.properties.isWhitespace }.map { scalars.index(after: $0) } ?? rest.startIndex
    let spaces = [scalars[..<rest.startIndex], scalars[end...]].map { space -> Markup in
      space.isEmpty ? "" : "<span class=\"space\">\(String(space))</span>"
    }
    return "\(spaces[0])\(String(rest[..<end]))\(spaces[1])"
  }

  /// Whether a word is longer than a UUID: it may break anywhere, so that it widens no table.
  private static func hasLongWord(_ text: String) -> Bool {
    text.utf8.count > 40 && text.split(separator: " ").contains { $0.utf8.count > 40 }
  }

  /// `in grace period` for `IN_GRACE_PERIOD`.
  package static func words(_ code: String) -> String { code.lowercased().replacing("_", with: " ") }

  /// A size in bytes.
  package static func size(_ bytes: Int64) -> String {
    var (amount, unit) = (Double(bytes), 0)
    let units = ["B", "kB", "MB", "GB", "TB"]
    while amount >= 1_000, unit < units.count - 1 { (amount, unit) = (amount / 1_000, unit + 1) }
    return ("\(amount)" as Markup).description + " " + units[unit]
  }
}

extension String {
  /// Whether it begins or ends with white space.
  package var hasOuterSpace: Bool {
    [unicodeScalars.first, unicodeScalars.last].contains { $0?.properties.isWhitespace == true }
  }

  /// `nil` if it is empty.
  package var given: String? { isEmpty ? nil : self }
}
