extension JSONParser {
  /// Parses the string whose opening quote is at `offset`.
  ///
  /// - Throws: ``JSONError/controlCharacter(offset:)``, ``JSONError/invalidEscape(offset:)``,
  ///   ``JSONError/invalidUTF8(offset:)``, ``JSONError/unexpectedEnd``.
  mutating func parseString() throws(JSONError) -> String {
    offset += 1
    let start = offset
    offset += plainLength
    var union: UInt8 = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        let content = bytes[start..<offset]
        offset += 1
        // ASCII needs no validation, and decoding is many times faster than validating.
        return union < 0x80 ? String(decoding: content, as: UTF8.self) : try text(content, at: start)
      }
      union |= byte
      if byte == UInt8(ascii: "\\") { return try parseEscapedString(from: start) }
      if byte < 0x20 { throw .controlCharacter(offset: offset) }
      offset += 1
    }
    throw .unexpectedEnd
  }

  /// The number of next bytes that are ASCII and need no unescaping; stops 31 bytes before the document's
  /// end. A notification contains documents of thousands of such characters.
  private var plainLength: Int {
    typealias Characters = SIMD32<Int8>
    let text = bytes.span.bytes
    var position = offset
    // As signed numbers, non-ASCII bytes are less than all ASCII.
    let space = Characters(repeating: 0x20)
    let (quote, escape) = (Characters(repeating: 0x22), Characters(repeating: 0x5C))
    while position + Characters.scalarCount <= text.byteCount {
      let characters = text.unsafeLoadUnaligned(fromByteOffset: position, as: Characters.self)
      let isSpecial = (characters .< space) .| (characters .== quote) .| (characters .== escape)
      let words = unsafeBitCast(isSpecial, to: SIMD4<UInt64>.self)
      for word in words.indices where words[word] != 0 {
        return position - offset + 8 * word + words[word].littleEndian.trailingZeroBitCount / 8
      }
      position += Characters.scalarCount
    }
    return position - offset
  }

  /// Continues a string at its first escape, at `offset`.
  private mutating func parseEscapedString(from start: Int) throws(JSONError) -> String {
    var unescaped = Array(bytes[start..<offset])
    while offset < bytes.count {
      let byte = bytes[offset]
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return try text(unescaped[...], at: start)
      case UInt8(ascii: "\\"): try parseEscape(into: &unescaped)
      case 0..<0x20: throw .controlCharacter(offset: offset)
      default:
        unescaped.append(byte)
        offset += 1
      }
    }
    throw .unexpectedEnd
  }

  /// Parses the escape at `offset` (RFC 8259, section 7).
  private mutating func parseEscape(into unescaped: inout [UInt8]) throws(JSONError) {
    let start = offset
    offset += 1
    guard offset < bytes.count else { throw .unexpectedEnd }
    let escape = bytes[offset]
    offset += 1
    switch escape {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(escape)
    case UInt8(ascii: "b"): unescaped.append(0x08)
    case UInt8(ascii: "f"): unescaped.append(0x0C)
    case UInt8(ascii: "n"): unescaped.append(0x0A)
    case UInt8(ascii: "r"): unescaped.append(0x0D)
    case UInt8(ascii: "t"): unescaped.append(0x09)
    case UInt8(ascii: "u"):
      unescaped.append(contentsOf: String(Character(try parseUnicodeEscape(from: start))).utf8)
    default: throw .invalidEscape(offset: start)
    }
  }

  /// Parses a `\u` escape or a surrogate pair of two; rejects a lone surrogate, which UTF-8 cannot encode.
  private mutating func parseUnicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
    let first = try parseFourHexDigits(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00 else { throw .invalidEscape(offset: start) }
    try expect(UInt8(ascii: "\\"))
    try expect(UInt8(ascii: "u"))
    let second = try parseFourHexDigits(from: start)
    guard 0xDC00...0xDFFF ~= second,
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw .invalidEscape(offset: start) }
    return scalar
  }

  /// Parses the digits of a `\u` escape, in either case; errors have the offset `start` of its backslash.
  private mutating func parseFourHexDigits(from start: Int) throws(JSONError) -> UInt32 {
    guard offset + 4 <= bytes.count else { throw .unexpectedEnd }
    var value: UInt32 = 0
    for byte in bytes[offset..<offset + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        throw .invalidEscape(offset: start)
      }
      value = value << 4 | UInt32(digit)
    }
    offset += 4
    return value
  }

  /// Validates UTF-8, which `start` locates in errors.
  private func text(_ slice: ArraySlice<UInt8>, at start: Int) throws(JSONError) -> String {
    guard let text = String(validating: slice, as: UTF8.self) else { throw .invalidUTF8(offset: start) }
    return text
  }

  /// Parses the number that starts at `offset`: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
  /// The literal is kept, and read as a number only when it is needed.
  mutating func parseNumber() throws(JSONError) -> JSONNumber {
    let start = offset
    if peek == UInt8(ascii: "-") { offset += 1 }
    if peek == UInt8(ascii: "0") {
      offset += 1
    } else {
      try skipDigits(from: start)
    }
    if peek == UInt8(ascii: ".") {
      offset += 1
      try skipDigits(from: start)
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      offset += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
      try skipDigits(from: start)
    }
    return JSONNumber(validatedLiteral: String(decoding: bytes[start..<offset], as: UTF8.self))
  }

  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Consumes one or more digits.
  private mutating func skipDigits(from start: Int) throws(JSONError) {
    let first = offset
    while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { offset += 1 }
    guard offset > first else { throw .invalidNumber(offset: start) }
  }
}
