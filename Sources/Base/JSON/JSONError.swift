/// The reason a text is rejected as JSON. Offsets count bytes; no case contains any part of the text.
package enum JSONError: Error, Hashable, Sendable {
  case tooLarge(limit: Int)
  case tooDeep(limit: Int, offset: Int)
  case tooManyValues(limit: Int)
  case unexpectedEnd
  case unexpectedByte(UInt8, offset: Int)
  case invalidNumber(offset: Int)
  case invalidEscape(offset: Int)
  case controlCharacter(offset: Int)
  case invalidUTF8(offset: Int)
  case duplicateName(offset: Int)
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
