extension JSONValue {
  /// Parses one JSON text: strict RFC 8259, valid UTF-8, no byte order mark.
  ///
  /// - Throws: ``JSONError`` for the first fault; ``JSONError/tooLarge(limit:)`` before anything is parsed.
  package init(
    parsing bytes: [UInt8], limits: JSONLimits = .standard, duplicates: JSONDuplicates = .lastWins
  ) throws(JSONError) {
    guard bytes.count <= limits.maximumBytes else { throw .tooLarge(limit: limits.maximumBytes) }
    var parser = JSONParser(bytes: bytes, limits: limits, duplicates: duplicates)
    self = try parser.parseDocument()
  }

  /// Parses one JSON text from a string.
  package init(
    parsing text: String, limits: JSONLimits = .standard, duplicates: JSONDuplicates = .lastWins
  ) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), limits: limits, duplicates: duplicates)
  }
}

/// Limits on JSON texts from untrusted sources.
package struct JSONLimits: Hashable, Sendable {
  /// The maximum nesting of arrays and objects; a scalar is at depth 0.
  package static let maximumDepth = 64
  /// The maximum size in bytes.
  package var maximumBytes: Int
  /// The maximum number of values. Small ones take many times the memory of their text.
  package var maximumValues: Int

  package init(maximumBytes: Int = 8 << 20, maximumValues: Int = .max) {
    self.maximumBytes = maximumBytes
    self.maximumValues = maximumValues
  }

  /// 8 MiB: far above every document of the App Store.
  package static let standard = JSONLimits()
  /// For documents of strangers until they are verified: 100,000 values. A notification of version 1 has some thousand,
  /// and signed documents some hundred.
  package static let ofDocuments = JSONLimits(maximumValues: 100_000)
  /// For requests of strangers, which have few members: 1,000 values.
  package static let ofRequests = JSONLimits(maximumValues: 1_000)
}

/// The handling of duplicate member names, which RFC 8259 leaves to the reader.
package enum JSONDuplicates: Hashable, Sendable {
  /// The last value wins, at the position of the first, as in most readers.
  case lastWins
  /// The text is rejected. For signed documents and configuration: two readers must not see different
  /// documents.
  case rejected
}

/// One pass over the bytes of a JSON text. Recursion is bounded by ``JSONLimits/maximumDepth``.
struct JSONParser {
  let bytes: [UInt8]
  private let limits: JSONLimits
  private let duplicates: JSONDuplicates
  var offset = 0
  /// The number of values so far.
  private var values = 0

  init(bytes: [UInt8], limits: JSONLimits, duplicates: JSONDuplicates) {
    self.bytes = bytes
    self.limits = limits
    self.duplicates = duplicates
  }

  mutating func parseDocument() throws(JSONError) -> JSONValue {
    let value = try parseValue(depth: 0)
    skipWhitespace()
    guard offset == bytes.count else { throw .trailingBytes(offset: offset) }
    return value
  }

  /// Parses the next value, whose first byte selects its kind. `depth` is the number of arrays and objects around it.
  private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue {
    let byte = try nextSignificantByte()
    values += 1
    guard values <= limits.maximumValues else { throw .tooManyValues(limit: limits.maximumValues) }
    switch byte {
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "{"): return .object(try parseObject(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try parseArray(depth: depth + 1))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try parseNumber())
    case UInt8(ascii: "t"): return try parseWord("true", as: .bool(true))
    case UInt8(ascii: "f"): return try parseWord("false", as: .bool(false))
    case UInt8(ascii: "n"): return try parseWord("null", as: .null)
    default: throw .unexpectedByte(byte, offset: offset)
    }
  }

  /// Parses an object from its brace on; a repeated name counts as the caller chose.
  private mutating func parseObject(depth: Int) throws(JSONError) -> JSONObject {
    guard depth <= JSONLimits.maximumDepth else {
      throw .tooDeep(limit: JSONLimits.maximumDepth, offset: offset)
    }
    offset += 1
    var object = JSONObject()
    var names = JSONNames()
    if try nextSignificantByte() == UInt8(ascii: "}") {
      offset += 1
      return object
    }
    // One allocation suffices for most objects; those of a text with very many are small.
    if values < Self.reservedFor { object.reserveCapacity(16) }
    while true {
      let start = offset
      try expect(UInt8(ascii: "\""))
      offset = start
      let name = try parseString()
      let known = names.position(of: name, in: object)
      guard known == nil || duplicates == .lastWins else { throw .duplicateName(offset: start) }
      _ = try nextSignificantByte()
      try expect(UInt8(ascii: ":"))
      let value = try parseValue(depth: depth)
      if let known {
        object.replaceValue(at: known, with: value)
      } else {
        object.appendUnchecked(name: name, value: value)
      }
      let separator = try nextSignificantByte()
      offset += 1
      if separator == UInt8(ascii: "}") { return object }
      guard separator == UInt8(ascii: ",") else { throw .unexpectedByte(separator, offset: offset - 1) }
      _ = try nextSignificantByte()
    }
  }

  private static let reservedFor = 10_000

  /// Parses an array from its bracket on.
  private mutating func parseArray(depth: Int) throws(JSONError) -> [JSONValue] {
    guard depth <= JSONLimits.maximumDepth else {
      throw .tooDeep(limit: JSONLimits.maximumDepth, offset: offset)
    }
    offset += 1
    var elements: [JSONValue] = []
    if try nextSignificantByte() == UInt8(ascii: "]") {
      offset += 1
      return elements
    }
    while true {
      elements.append(try parseValue(depth: depth))
      let separator = try nextSignificantByte()
      offset += 1
      if separator == UInt8(ascii: "]") { return elements }
      guard separator == UInt8(ascii: ",") else { throw .unexpectedByte(separator, offset: offset - 1) }
    }
  }

  private mutating func parseWord(
    _ word: StaticString, as value: JSONValue
  ) throws(JSONError) -> JSONValue {
    for scalar in word.description.utf8 { try expect(scalar) }
    return value
  }

  /// Consumes `byte`, or throws with the byte found instead.
  mutating func expect(_ byte: UInt8) throws(JSONError) {
    guard offset < bytes.count else { throw .unexpectedEnd }
    guard bytes[offset] == byte else { throw .unexpectedByte(bytes[offset], offset: offset) }
    offset += 1
  }

  /// Returns the next byte that is not whitespace without consuming it.
  private mutating func nextSignificantByte() throws(JSONError) -> UInt8 {
    skipWhitespace()
    guard offset < bytes.count else { throw .unexpectedEnd }
    return bytes[offset]
  }

  private mutating func skipWhitespace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }
}

/// The member names of one object, to detect duplicates.
struct JSONNames {
  /// Up to this count a linear search is cheaper than a dictionary.
  private static let walked = 32
  private var positions: [[UInt8]: Int] = [:]

  /// Returns the position of the member `name` in `object`; otherwise records that the caller appends it.
  mutating func position(of name: String, in object: JSONObject) -> Int? {
    if object.count < Self.walked { return object.index(of: name) }
    if positions.isEmpty {
      for (position, member) in object.enumerated() { positions[Array(member.name.utf8)] = position }
    }
    let key = Array(name.utf8)
    if let position = positions[key] { return position }
    positions[key] = object.count
    return nil
  }
}
