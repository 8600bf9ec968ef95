import JSON
import Testing

/// Strings are read and written many bytes at a time where that is possible: wherever something special stands, it
/// is seen.
@Suite struct LongStringTests {
  private func string(_ position: Int, _ special: [UInt8]) -> [UInt8] {
    let filler = [UInt8](repeating: UInt8(ascii: "x"), count: position)
    return [UInt8(ascii: "\"")] + filler + special + filler + [UInt8(ascii: "\"")]
  }

  @Test("Escapes and non-ASCII characters are parsed at every position", arguments: 0..<70)
  func special(position: Int) throws {
    let filler = String(repeating: "x", count: position)
    for (written, meant) in [("\\n", "\n"), ("\\u00e9", "é"), ("é", "é"), ("😀", "😀"), ("\u{7F}", "\u{7F}")] {
      let value = try JSONValue(parsing: string(position, Array(written.utf8)))
      #expect(value == .string(filler + meant + filler))
    }
  }

  @Test("Special characters are escaped at every position", arguments: 0..<70)
  func written(position: Int) {
    let filler = String(repeating: "x", count: position)
    for (meant, written) in [
      ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("\u{1F}", "\\u001f"), ("é", "é"),
    ] {
      #expect(JSONValue.string(filler + meant + filler).text == "\"\(filler)\(written)\(filler)\"")
    }
  }

  @Test("Control characters, invalid UTF-8 and truncation are detected at every position", arguments: 0..<70)
  func refused(position: Int) {
    #expect(throws: JSONError.controlCharacter(offset: position + 1)) {
      try JSONValue(parsing: string(position, [0x1F]))
    }
    #expect(throws: JSONError.invalidUTF8(offset: 1)) { try JSONValue(parsing: string(position, [0xFF])) }
    #expect(throws: JSONError.unexpectedEnd) { try JSONValue(parsing: string(position, []).dropLast() + []) }
  }
}
