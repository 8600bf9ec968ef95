extension UInt8 {
  /// Whether it is white space in ASCII, line breaks included.
  package var isWhitespace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}

extension ArraySlice<UInt8> {
  /// The bytes without white space at both ends.
  package var trimmed: ArraySlice<UInt8> {
    let start = drop(while: \.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return [] }
    return start[...last]
  }
}

extension String {
  /// The text without white space at both ends.
  package var trimmed: String {
    guard let first = utf8.first, let last = utf8.last, first.isWhitespace || last.isWhitespace else {
      return self
    }
    return String(decoding: Array(utf8)[...].trimmed, as: UTF8.self)
  }
}
