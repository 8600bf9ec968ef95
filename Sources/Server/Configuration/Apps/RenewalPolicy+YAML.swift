internal import Entitlements

extension RenewalPolicy {
  /// Parses `renewal_slack`, `clock_tolerance` and `grace_entitlements` of an app; a missing one is that of
  /// ``standard``.
  init(_ members: ConfigurationNode.Members) throws(ConfigurationError) {
    self = .standard
    if let node = members["renewal_slack"] { slack = try node.milliseconds(atMostHours: 24) }
    if let node = members["clock_tolerance"] { clockTolerance = try node.milliseconds(atMostHours: 1) }
    if let node = members["grace_entitlements"] { graceEntitlements = try node.choice() }
  }
}

extension ConfigurationNode {
  /// Parses an ISO 8601 duration of hours, minutes and seconds, such as `PT1H` or `PT5M`, or `0`.
  func milliseconds(atMostHours limit: Int64) throws(ConfigurationError) -> Int64 {
    let text = try text()
    guard text != "0" else { return 0 }
    guard let seconds = Self.seconds(text) else {
      throw error("\(name) is not a duration such as PT1H, PT5M or PT0S")
    }
    guard seconds <= limit * 3600 else { throw error("\(name) is longer than PT\(limit)H") }
    return seconds * 1000
  }

  /// Parses an ISO 8601 duration of hours, minutes and seconds.
  static func seconds(_ text: String) -> Int64? {
    guard text.hasPrefix("PT"), text.utf8.count > 2 else { return nil }
    var (rest, seconds) = (text.dropFirst(2), Int64(0))
    var units: [(Character, Int64)] = [("H", 3600), ("M", 60), ("S", 1)]
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      guard (1...6).contains(digits.count), let number = Int64(digits), let unit = rest.popFirst(),
        let place = units.firstIndex(where: { $0.0 == unit })
      else { return nil }
      seconds += number * units[place].1
      units = Array(units[(place + 1)...])
    }
    return seconds
  }
}
