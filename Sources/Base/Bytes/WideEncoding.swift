/// An encoding of text in units of two bytes, which importers of UTF-8 cannot read.
package enum WideEncoding: String, Hashable, Sendable {
  /// With a byte order mark.
  case utf16 = "UTF-16"
  /// Without a byte order mark, low bytes first.
  case utf16LittleEndian = "UTF-16LE"
  /// Without a byte order mark, high bytes first.
  case utf16BigEndian = "UTF-16BE"

  /// The encoding that the first bytes of a text show: a byte order mark, or a NUL beside an ASCII character, which no text
  /// in UTF-8 begins with. `nil` for other bytes.
  package init?(beginningWith bytes: some Sequence<UInt8>) {
    switch Array(bytes.prefix(2)) {
    case [0xFE, 0xFF], [0xFF, 0xFE]: self = .utf16
    case let start where start.count == 2 && start[0] != 0 && start[1] == 0: self = .utf16LittleEndian
    case let start where start.count == 2 && start[0] == 0 && start[1] != 0: self = .utf16BigEndian
    default: return nil
    }
  }

  /// The instruction for an operator with such a text.
  package var remedy: String { "convert it to UTF-8, for example with iconv -f \(rawValue) -t UTF-8" }
}
