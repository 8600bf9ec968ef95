internal import JSON

/// Takes a payload's members out of its JSON, each with the type that Apple documents.
///
/// Every member is optional in Apple's documents, so one that is absent or `null` is `nil`; one that
/// is there with another type is an error, because guessing at it would hide a change of the format.
struct PayloadReader {
  let json: JSONObject

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

  /// An object that has a type of its own.
  func part<Part: DecodedPayload>(_ member: String) throws(PayloadError) -> Part? {
    guard let value = value(member) else { return nil }
    guard case .object(let object) = value else {
      throw .wrongType(member: member, expected: "an object")
    }
    do { return try Part(json: object) } catch { throw error.inside(member) }
  }

  /// An array of objects that have a type of their own.
  func parts<Part: DecodedPayload>(_ member: String) throws(PayloadError) -> [Part]? {
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
      do { parts.append(try Part(json: object)) } catch { throw error.inside("\(member)[\(position)]") }
    }
    return parts
  }

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

  /// An object whose members have no names that are known in advance.
  func object(_ member: String) throws(PayloadError) -> JSONObject? {
    guard let value = value(member) else { return nil }
    guard case .object(let object) = value else {
      throw .wrongType(member: member, expected: "an object")
    }
    return object
  }

  /// Milliseconds since 1970. Xcode adds a fraction, which is cut off.
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

  /// `nil` too for an environment that this version does not know: such data belongs nowhere, and is still
  /// to be shown.
  func environment(_ member: String) throws(PayloadError) -> Environment? {
    try string(member).flatMap(Environment.init)
  }

  func code<Code: OpenCode>(_ member: String) throws(PayloadError) -> Code? where Code.RawValue == String {
    try string(member).map { Code(rawValue: $0) }
  }

  func code<Code: OpenCode>(_ member: String) throws(PayloadError) -> Code? where Code.RawValue == Int64 {
    try integer(member).map { Code(rawValue: $0) }
  }

  private func value(_ member: String) -> JSONValue? {
    guard let value = json[member] else { return nil }
    if case .null = value { return nil }
    return value
  }
}

extension Instant {
  /// The years -9999 to 9999, give or take a leap day: what calendar arithmetic can carry.
  static let representable: ClosedRange<Instant> = {
    let (first, last): (Int64, Int64) = (-377_700_000_000_000, 253_402_300_799_999)
    return Instant(millisecondsSince1970: first)...Instant(millisecondsSince1970: last)
  }()
}
