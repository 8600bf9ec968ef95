internal import AppStore
internal import Entitlements

extension ReportPolicy {
  /// The longest delay of a closing, in hours.
  private static let longestDelay: Int64 = 168

  /// Parses `reports` of an app; a missing member is that of ``standard``.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["close_after", "rates", "small_business_program"])
    self = .standard
    if let node = members["close_after"] {
      closeAfter = try node.milliseconds(atMostHours: Self.longestDelay)
    }
    for node in try members["rates"]?.list() ?? [] { rates.append(try ExchangeRate(node)) }
    for node in try members["small_business_program"]?.list() ?? [] {
      smallBusinessProgram.append(try Self.times(node))
    }
  }

  /// Parses the days `from` and `until`. `until` is excluded; without it, the range has no end.
  private static func times(_ node: ConfigurationNode) throws(ConfigurationError) -> Range<Instant> {
    let members = try node.members(["from", "until"])
    let from = try members.required("from").day()
    guard let node = members["until"] else { return from..<Instant.openEnd }
    let until = try node.day()
    guard from < until else { throw node.error("until is not after from") }
    return from..<until
  }
}

extension ExchangeRate {
  /// Parses one of `rates`.
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["currency", "to", "from", "rate", "known_at"])
    let (currency, target) = (
      try members.required("currency").currency(), try members.required("to").currency()
    )
    guard currency != target else { throw node.error("a rate converts \(currency) into itself") }
    self.init(
      currency: currency, target: target, from: try members.required("from").day(),
      millionths: try members.required("rate").millionths(),
      knownAt: try members["known_at"].map { node throws(ConfigurationError) in try node.instant() })
  }
}

extension ConfigurationNode {
  /// Parses the start of a day in UTC, such as `2026-10-01`.
  fileprivate func day() throws(ConfigurationError) -> Instant {
    let text = try text()
    guard text.utf8.count == 10, let day = Instant(rfc3339: "\(text)T00:00:00Z") else {
      throw error("'\(text)' is not a day such as 2026-10-01")
    }
    return day
  }

  /// Parses a code of ISO 4217, such as `EUR`.
  fileprivate func currency() throws(ConfigurationError) -> String {
    let text = try text()
    guard text.utf8.count == 3, text.utf8.allSatisfy({ (65...90).contains($0) }) else {
      throw error("'\(text)' is not a currency such as EUR")
    }
    return text
  }

  /// Parses an exchange rate, as millionths.
  fileprivate func millionths() throws(ConfigurationError) -> Int64 {
    let text = try text()
    guard let number = RateText.millionths(text) else {
      throw error("'\(text)' is not a rate above 0 with at most six decimals")
    }
    return number
  }
}

/// The text of an exchange rate, in the configuration and in files of `entitled report --rates`.
package enum RateText {
  /// Parses a decimal number above 0 with at most six decimals, as millionths; `nil` for any other text.
  package static func millionths(_ text: String) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let decimals = parts.count == 2 ? String(parts[1]) : ""
    let digits = parts.first.map { $0 + decimals + String(repeating: "0", count: max(0, 6 - decimals.count)) }
    guard parts.count <= 2, decimals.count <= 6, parts.count == 1 || !decimals.isEmpty,
      let digits, digits.utf8.allSatisfy({ (48...57).contains($0) }), digits.count <= 15,
      let number = Int64(digits), number > 0
    else { return nil }
    return number
  }
}
