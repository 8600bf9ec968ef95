/// Percent-encoding: a byte as `%` and two hexadecimal digits (RFC 3986, section 2.1). URLs have it, and the
/// messages of gRPC's statuses.
package enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Returns `text` with the bytes of its UTF-8 encoded, in uppercase digits, that `isKept` does not keep.
  ///
  /// By default it keeps the unreserved characters alone, so that the result can be a segment of a path, or a name or a
  /// value in a query. `%` is encoded only if `isKept` does not keep it.
  package static func encode(
    _ text: String, keeping isKept: (UInt8) -> Bool = PercentEncoding.isUnreserved
  ) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if isKept(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Whether a byte is one of the characters that mean the same encoded or not: ASCII letters and digits, `-`, `.`, `_`
  /// and `~` (RFC 3986, section 2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Returns `text` decoded. A `%` without two digits stays as it is, as gRPC requires of receivers; bytes that are
  /// not UTF-8 become U+FFFD. With `plusIsSpace`, `+` means a space, as in queries and forms; in a path it means itself.
  package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
    String(decoding: decodedBytes(text.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
  }

  /// Whether `text` is UTF-8 when it is decoded. Otherwise ``decode(_:plusIsSpace:)`` returns the text of something else.
  package static func isUTF8(_ text: some Sequence<UInt8>) -> Bool {
    String(validating: decodedBytes(text), as: UTF8.self) != nil
  }

  /// Returns the bytes of `text` decoded, which need not be UTF-8.
  package static func decodedBytes(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let code = code(rest.prefix(2)) {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else if plusIsSpace, byte == UInt8(ascii: "+") {
        bytes.append(UInt8(ascii: " "))
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// Returns the byte that two digits mean; `nil` for anything else.
  private static func code(_ digits: ArraySlice<UInt8>) -> UInt8? {
    guard digits.count == 2, let first = digits.first.flatMap(Hex.value),
      let last = digits.last.flatMap(Hex.value)
    else { return nil }
    return first << 4 | last
  }
}
