internal import AppStore
internal import JSON

/// Typed access to the members of a request body. A member that is null counts as absent. Each function throws
/// ``ActionError`` with the name of the member and what is expected.
struct Parameters {
  let json: JSONObject

  /// Reads the members of a parsed object.
  init(_ json: JSONObject) { self.json = json }

  /// Parses a body, which must be a JSON object.
  init(body: [UInt8]) throws(ActionError) {
    guard !body.isEmpty else { throw .malformedJSON("empty body") }
    let value: JSONValue
    do { value = try JSONValue(parsing: body) } catch { throw .malformedJSON(error.description) }
    guard case .object(let object) = value else { throw .malformedJSON("not an object") }
    json = object
  }

  /// Throws for a member that is not in `known`, which is probably misspelled.
  func allow(only known: [String]) throws(ActionError) {
    for (name, _) in json where !known.contains(name) { throw .unknownMember(name, known: known) }
  }

  /// Reads a required, non-empty string.
  func string(_ member: String) throws(ActionError) -> String {
    guard let text = try stringIfPresent(member) else { throw .missingMember(member) }
    return text
  }

  /// Reads an optional string; JSON null counts as absent.
  func stringIfPresent(_ member: String) throws(ActionError) -> String? {
    guard let value = json[member], !value.isNull else { return nil }
    guard let text = value.stringValue, !text.isEmpty else {
      throw .wrongType(member: member, expected: "a non-empty string")
    }
    if Self.names.contains(member), text.utf8.count > Self.maxNameBytes {
      throw .wrongType(member: member, expected: "at most \(Self.maxNameBytes) bytes")
    }
    return text
  }

  /// The members whose values the journal and the tables store as names.
  private static let names: Set = ["account", "family"]
  /// As ids in requests to the service.
  private static let maxNameBytes = 256

  /// Reads a required integer, which may be sent as a string.
  func integer(_ member: String, in range: ClosedRange<Int64>) throws(ActionError) -> Int64 {
    guard let integer = try integerIfPresent(member) else { throw .missingMember(member) }
    guard range.contains(integer) else {
      throw .wrongType(member: member, expected: "between \(range.lowerBound) and \(range.upperBound)")
    }
    return integer
  }

  /// Reads an optional integer, which may be sent as a string.
  func integerIfPresent(_ member: String) throws(ActionError) -> Int64? {
    guard let value = json[member], !value.isNull else { return nil }
    // The command line sends numbers as strings.
    guard let integer = value.int64Value ?? value.stringValue.flatMap({ Int64($0) }) else {
      throw .wrongType(member: member, expected: "an integer")
    }
    return integer
  }

  /// Reads an optional percentage below 100 in thousandths, such as 33333 for `33.333`. It may be sent as a string.
  func percentageIfPresent(_ member: String) throws(ActionError) -> Int64? {
    guard let value = json[member], !value.isNull else { return nil }
    let text = if case .number(let number) = value { number.literal } else { value.stringValue ?? "" }
    guard let share = StoreKitReader.thousandths(text), (1..<Int64.wholePercentage).contains(share) else {
      throw .wrongType(member: member, expected: "between 0.001 and 99.999, with at most three decimals")
    }
    return share
  }

  /// Reads a required Boolean, which may be sent as a string.
  func flag(_ member: String) throws(ActionError) -> Bool {
    guard let flag = try flagIfPresent(member) else { throw .missingMember(member) }
    return flag
  }

  /// Reads an optional Boolean, which may be sent as a string.
  func flagIfPresent(_ member: String) throws(ActionError) -> Bool? {
    guard let value = json[member], !value.isNull else { return nil }
    switch value {
    case .bool(let flag): return flag
    case "true": return true
    case "false": return false
    default: throw .wrongType(member: member, expected: "true or false")
    }
  }

  /// Reads milliseconds since 1970, which is Apple's format, or an RFC 3339 time. The certificates begin in 1970.
  func instantIfPresent(_ member: String) throws(ActionError) -> Instant? {
    guard let value = json[member], !value.isNull else { return nil }
    let instant =
      value.stringValue.flatMap { Instant(rfc3339: $0) }
      ?? value.int64Value.map { Instant(millisecondsSince1970: $0) }
    guard let instant, instant.millisecondsSince1970 >= 0 else {
      throw .wrongType(
        member: member, expected: "milliseconds since 1970 or an RFC 3339 time since then")
    }
    return instant
  }

  /// Reads a duration such as `50ms`, `90s`, `5m`, `12h`, `35d` or `2w`, with a number of at most a million (a million
  /// million of milliseconds); the result is in milliseconds.
  func durationIfPresent(_ member: String) throws(ActionError) -> Int64? {
    guard let text = try stringIfPresent(member) else { return nil }
    let units: [Character: Int64] = [
      "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
    ]
    if text.hasSuffix("ms"), let count = Int64(text.dropLast(2)), (0...1_000_000_000_000).contains(count) {
      return count
    }
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
      (0...1_000_000).contains(count)
    else { throw .wrongType(member: member, expected: "a duration such as 90s, 5m, 12h, 35d or 2w") }
    return count * unit
  }

  /// Reads the optional member `billingPlanType`.
  func billingPlan() throws(ActionError) -> BillingPlan {
    guard let value = json["billingPlanType"], !value.isNull else { return .billedUpfront }
    let name = try choice("billingPlanType", of: BillingPlan.allCases.map(\.rawValue))
    return BillingPlan(rawValue: name) ?? .billedUpfront
  }

  /// Reads an optional string that must be one of the enumeration's values.
  func caseIfPresent<Choice>(_ member: String) throws(ActionError) -> Choice?
  where Choice: RawRepresentable<String> & CaseIterable {
    guard let value = json[member], !value.isNull else { return nil }
    return Choice(rawValue: try choice(member, of: Choice.allCases.map(\.rawValue)))
  }

  /// Reads a string that must be one of `known`.
  func choice(_ member: String, of known: [String]) throws(ActionError) -> String {
    let text = try string(member)
    guard known.contains(text) else { throw .unknown(what: member, name: text, known: known) }
    return text
  }
}
