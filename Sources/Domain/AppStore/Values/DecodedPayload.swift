package import JSON

/// A JSON object documented by Apple, with its members as typed properties.
///
/// All members are optional, as in Apple's documentation; the caller decides which are required. Members
/// without a property are in ``json``.
package protocol DecodedPayload: Hashable, Sendable {
  /// All members as they arrived.
  var json: JSONObject { get }

  /// Reads the members; throws if one has another type than Apple documents.
  init(json: JSONObject) throws(PayloadError)
}

// Reads the members of a payload, each with the type that Apple documents.
//
// An absent or `null` member is `nil`. A member of another type is an error, because a lenient conversion would hide a
// change of Apple's format.
extension JSONObject {
  func string(_ member: String) throws(PayloadError) -> String? {
    guard let value = value(member) else { return nil }
    guard case .string(let text) = value else {
      throw .wrongType(member: member, expected: "a string")
    }
    return text
  }

  func integer(_ member: String) throws(PayloadError) -> Int64? {
    guard let value = value(member) else { return nil }
    guard case .number(let number) = value, let integer = number.int64 else {
      throw .wrongType(member: member, expected: "an integer")
    }
    return integer
  }

  func bool(_ member: String) throws(PayloadError) -> Bool? {
    guard let value = value(member) else { return nil }
    guard case .bool(let flag) = value else {
      throw .wrongType(member: member, expected: "true or false")
    }
    return flag
  }

  /// Returns a nested object.
  func part<Part: DecodedPayload>(_ member: String) throws(PayloadError) -> Part? {
    try part(member) { json throws(PayloadError) in try Part(json: json) }
  }

  /// Returns the result of `read` for a nested object.
  func part<Part>(
    _ member: String, _ read: (JSONObject) throws(PayloadError) -> Part
  ) throws(PayloadError) -> Part? {
    guard let object = try object(member) else { return nil }
    do { return try read(object) } catch { throw error.inside(member) }
  }

  /// Returns an array of nested objects.
  func parts<Part: DecodedPayload>(_ member: String) throws(PayloadError) -> [Part]? {
    try parts(member) { json throws(PayloadError) in try Part(json: json) }
  }

  /// Returns the results of `read` for an array of nested objects.
  func parts<Part>(
    _ member: String, _ read: (JSONObject) throws(PayloadError) -> Part
  ) throws(PayloadError) -> [Part]? {
    guard let value = value(member) else { return nil }
    guard case .array(let elements) = value else {
      throw .wrongType(member: member, expected: "an array of objects")
    }
    var parts: [Part] = []
    parts.reserveCapacity(elements.count)
    for (position, element) in elements.enumerated() {
      guard case .object(let object) = element else {
        throw .wrongType(member: member, expected: "an array of objects")
      }
      do { parts.append(try read(object)) } catch { throw error.inside("\(member)[\(position)]") }
    }
    return parts
  }

  /// Returns the texts of an array; `nil` if the member is absent. Throws if an element is not a text.
  func strings(_ member: String) throws(PayloadError) -> [String]? {
    guard let value = value(member) else { return nil }
    guard case .array(let elements) = value else {
      throw .wrongType(member: member, expected: "an array of strings")
    }
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else {
        throw .wrongType(member: member, expected: "an array of strings")
      }
      texts.append(text)
    }
    return texts
  }

  /// Returns an object with arbitrary member names.
  func object(_ member: String) throws(PayloadError) -> JSONObject? {
    guard let value = value(member) else { return nil }
    guard case .object(let object) = value else {
      throw .wrongType(member: member, expected: "an object")
    }
    return object
  }

  /// Returns a date in milliseconds since 1970. Xcode adds a fraction, which is cut off.
  func instant(_ member: String) throws(PayloadError) -> Instant? {
    guard let value = value(member) else { return nil }
    guard case .number(let number) = value else {
      throw .wrongType(member: member, expected: "a number of milliseconds")
    }
    let milliseconds = number.int64 ?? Int64(exactly: number.double.rounded(.down))
    guard let instant = milliseconds.map(Instant.init(millisecondsSince1970:)),
      Instant.representable.contains(instant)
    else { throw .dateOutOfRange(member: member) }
    return instant
  }

  /// Returns `nil` also for an environment unknown to this version; such data can be shown but belongs to no
  /// app.
  func environment(_ member: String) throws(PayloadError) -> Environment? {
    try string(member).flatMap(Environment.init)
  }

  func code<Code: OpenCode>(_ member: String) throws(PayloadError) -> Code? where Code.RawValue == String {
    try string(member).map { Code(rawValue: $0) }
  }

  func code<Code: OpenCode>(_ member: String) throws(PayloadError) -> Code? where Code.RawValue == Int64 {
    try integer(member).map { Code(rawValue: $0) }
  }

  /// Returns a member; `nil` also for `null`.
  private func value(_ member: String) -> JSONValue? {
    guard let value = self[member] else { return nil }
    if case .null = value { return nil }
    return value
  }
}

extension Instant {
  /// The years -9999 to 9999, give or take a leap day: the range of calendar arithmetic.
  static let representable: ClosedRange<Instant> = {
    let (first, last): (Int64, Int64) = (-377_700_000_000_000, 253_402_300_799_999)
    return Instant(millisecondsSince1970: first)...Instant(millisecondsSince1970: last)
  }()
}

/// The reason why a JSON object is not one of Apple's payloads. Names the member with its path
/// (`data.status`) and never quotes customer data.
package enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A member has another JSON type than Apple documents.
  case wrongType(member: String, expected: String)
  /// A date is outside the years -9999 to 9999.
  case dateOutOfRange(member: String)

  package var description: String {
    switch self {
    case .wrongType(let member, let expected): "\(member) is not \(expected)"
    case .dateOutOfRange(let member): "\(member) is a date beyond the calendar's range"
    }
  }

  /// The same error with the path prefixed by the member `parent`.
  func inside(_ parent: String) -> PayloadError {
    switch self {
    case .wrongType(let member, let expected): .wrongType(member: "\(parent).\(member)", expected: expected)
    case .dateOutOfRange(let member): .dateOutOfRange(member: "\(parent).\(member)")
    }
  }
}
