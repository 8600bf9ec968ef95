/// A property list in the oldest form, a dictionary of strings and nothing deeper:
///
///     { "environment" = "Sandbox"; signing-status = 0; }
///
/// That is all that transaction receipts are made of, so the other forms (arrays, data, comments) are
/// refused.
struct PropertyList {
  /// The entries in the order in which they came, each name once.
  let entries: [(name: String, value: String)]

  /// Largest list that is looked at; Apple's are below 10 KiB.
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
        throw .notAPropertyList("a name occurs twice")
      }
      entries.append((name, value))
    }
    guard reader.isAtEnd else { throw .notAPropertyList("something follows its end") }
    self.entries = entries
  }

  subscript(name: String) -> String? { entries.first { $0.name == name }?.value }
}

/// Takes tokens off the front of a property list. White space before a token is passed over.
private struct PropertyListReader {
  var rest: ArraySlice<UInt8>

  var isAtEnd: Bool { rest.allSatisfy(isSpace) }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    rest = rest.drop(while: isSpace)
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

  /// What may stand without quotation marks; `nil` if there is nothing of it.
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

  /// The rest of a string, up to its closing mark. A backslash before a mark or another backslash makes
  /// it one of the string's own; what else it could stand before does not occur.
  private mutating func quoted() throws(AppReceiptError) -> [UInt8]? {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch Unicode.Scalar(byte) {
      case "\"": return bytes
      case "\\":
        guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == byte else {
          throw .notAPropertyList("a string has an escape that is not known")
        }
        bytes.append(escaped)
      default: bytes.append(byte)
      }
    }
    throw .notAPropertyList("a string does not end")
  }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
