/// The reason a text is rejected as JSON. Offsets count bytes; no case contains any part of the text.
package enum JSONError: Error, Hashable, Sendable {
  /// The text has more bytes than the caller's limit; nothing was parsed.
  case tooLarge(limit: Int)
  /// Arrays and objects are nested deeper than the limit.
  case tooDeep(limit: Int, offset: Int)
  /// The text has more values than the limit, each member and element counted.
  case tooManyValues(limit: Int)
  /// The text ends inside a value.
  case unexpectedEnd
  /// A byte that cannot begin or continue the value at this place.
  case unexpectedByte(UInt8, offset: Int)
  /// A number that is not one of RFC 8259, such as `01` or `1.`.
  case invalidNumber(offset: Int)
  /// An escape that RFC 8259 does not have, or half of a surrogate pair.
  case invalidEscape(offset: Int)
  /// A character below U+0020 in a string, which must be escaped.
  case controlCharacter(offset: Int)
  /// A string that is not UTF-8.
  case invalidUTF8(offset: Int)
  /// A name that the object has already, if the caller rejects duplicates: RFC 8259 leaves open which one counts.
  case duplicateName(offset: Int)
  /// Something other than white space after the value.
  case trailingBytes(offset: Int)
}

extension JSONError: CustomStringConvertible {
  /// A message without the document's content.
  package var description: String {
    switch self {
    case .tooLarge(let limit): "the JSON text is longer than \(limit) bytes"
    case .tooDeep(let limit, let offset): "JSON nested deeper than \(limit) levels at byte \(offset)"
    case .tooManyValues(let limit): "the JSON text has more than \(limit) values"
    case .unexpectedEnd: "truncated JSON"
    case .unexpectedByte(let byte, let offset):
      "unexpected byte 0x\(String(byte, radix: 16)) in JSON at byte \(offset)"
    case .invalidNumber(let offset): "malformed JSON number at byte \(offset)"
    case .invalidEscape(let offset): "malformed escape in a JSON string at byte \(offset)"
    case .controlCharacter(let offset): "control character in a JSON string at byte \(offset)"
    case .invalidUTF8(let offset): "JSON string is not UTF-8 at byte \(offset)"
    case .duplicateName(let offset): "duplicate member name in a JSON object at byte \(offset)"
    case .trailingBytes(let offset): "trailing bytes after the JSON text at byte \(offset)"
    }
  }
}
