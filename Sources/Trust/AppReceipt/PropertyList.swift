internal import Bytes

/// A flat property list in the old text form, a dictionary of strings:
///
///     { "environment" = "Sandbox"; signing-status = 0; }
///
/// Transaction receipts use nothing else, so other forms (arrays, data, comments) are rejected.
struct PropertyList {
  /// The entries in order, with unique names.
  let entries: [(name: String, value: String)]

  /// The maximum size; Apple's are below 10 KiB.
  private static let maximumBytes = 64 << 10
  private static let maximumEntries = 100

  init(parsing bytes: [UInt8]) throws(AppReceiptError) {
    guard bytes.count <= Self.maximumBytes else { throw .tooMany("bytes", limit: Self.maximumBytes) }
    var reader = PropertyListReader(rest: bytes[...])
    try reader.expect("{")
    var entries: [(name: String, value: String)] = []
    while !reader.skip("}") {
      let name = try reader.string()
      try reader.expect("=")
      let value = try reader.string()
      try reader.expect(";")
      guard entries.count < Self.maximumEntries else { throw .tooMany("entries", limit: Self.maximumEntries) }
      guard !entries.contains(where: { $0.name == name }) else {
        throw .notAPropertyList("duplicate name")
      }
      entries.append((name, value))
    }
    guard reader.isAtEnd else { throw .notAPropertyList("trailing bytes") }
    self.entries = entries
  }

  subscript(name: String) -> String? { entries.first { $0.name == name }?.value }
}

/// Reads tokens from a property list. Skips white space before a token.
private struct PropertyListReader {
  var rest: ArraySlice<UInt8>

  var isAtEnd: Bool { rest.allSatisfy(\.isWhitespace) }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    rest = rest.drop(while: \.isWhitespace)
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func expect(_ character: Unicode.Scalar) throws(AppReceiptError) {
    guard skip(character) else { throw .notAPropertyList("'\(character)' is missing") }
  }

  mutating func string() throws(AppReceiptError) -> String {
    let bytes = skip("\"") ? try quoted() : bare()
    guard let bytes else { throw .notAPropertyList("a string is missing") }
    guard let string = String(validating: bytes, as: UTF8.self) else {
      throw .notAPropertyList("a string is not UTF-8")
    }
    return string
  }

  /// Returns a string without quotation marks; `nil` if there is none.
  private mutating func bare() -> [UInt8]? {
    let word = rest.prefix { byte in
      switch Unicode.Scalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ":", "$": true
      default: false
      }
    }
    rest = rest.dropFirst(word.count)
    return word.isEmpty ? nil : Array(word)
  }

  /// Returns the rest of a quoted string. A backslash escapes only a quotation mark or a backslash.
  private mutating func quoted() throws(AppReceiptError) -> [UInt8]? {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch Unicode.Scalar(byte) {
      case "\"": return bytes
      case "\\":
        guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == byte else {
          throw .notAPropertyList("unknown escape in a string")
        }
        bytes.append(escaped)
      default: bytes.append(byte)
      }
    }
    throw .notAPropertyList("unterminated string")
  }
}
