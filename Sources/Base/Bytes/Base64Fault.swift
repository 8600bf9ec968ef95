/// The likely reason why a text is not what ``Base64`` decodes, named for its sender.
package enum Base64Fault: Error, Hashable, Sendable {
  /// Spaces between the digits. Form decoding turns each `+` into one.
  case spaces
  /// `-` or `_` in ``Base64/standard``, `+` or `/` in ``Base64/url``.
  case otherAlphabet
  /// The number of digits needs `=` at the end.
  case missingPadding
  /// `=` where the variant has none, or not at the end.
  case unexpectedPadding
  /// No digit of either alphabet; `position` counts bytes from 0.
  case character(position: Int)
  /// A number of digits that encodes no bytes, or bits left over: the text was cut.
  case truncated
}

extension Base64 {
  /// Returns the bytes of `text`, whose lines may be broken by any white space, as in forms and mails.
  ///
  /// - Throws: ``Base64Fault`` with the first byte that does not fit.
  package func decodeLines(_ text: ArraySlice<UInt8>) throws(Base64Fault) -> [UInt8] {
    guard !hasSpacesInsideLines(text), let bytes = decode(text.filter { !$0.isWhitespace }[...]) else {
      throw fault(in: text.trimmed)
    }
    return bytes
  }

  /// Whether spaces are among the digits of a line. Lines have one length of whole groups, except for the last one.
  private func hasSpacesInsideLines(_ text: ArraySlice<UInt8>) -> Bool {
    guard text.trimmed.contains(0x20) else { return false }
    let lines = text.split(whereSeparator: \.isWhitespace)
    guard let length = lines.first?.count, let last = lines.last else { return false }
    return length % 4 != 0 || last.count > length || lines.dropLast().contains { $0.count != length }
  }

  /// Returns the reason why `text`, whose line breaks do not count, cannot be decoded.
  package func fault(in text: ArraySlice<UInt8>) -> Base64Fault {
    var (digits, padding) = (0, 0)
    var (hasSpaces, hasOtherAlphabet, isPaddedInside) = (false, false, false)
    for (position, byte) in text.enumerated() where byte == 0x20 || !byte.isWhitespace {
      switch byte {
      case UInt8(ascii: " "): hasSpaces = true
      case UInt8(ascii: "="): padding += 1
      case UInt8(ascii: "+"), UInt8(ascii: "/"):
        hasOtherAlphabet = hasOtherAlphabet || self == .url
        digits += 1
      case UInt8(ascii: "-"), UInt8(ascii: "_"):
        hasOtherAlphabet = hasOtherAlphabet || self == .standard
        digits += 1
      default:
        guard byte.isAlphanumeric else { return .character(position: position) }
        isPaddedInside = isPaddedInside || padding > 0
        digits += 1
      }
    }
    if hasSpaces { return .spaces }
    if hasOtherAlphabet { return .otherAlphabet }
    if isPaddedInside || padding > 0 && (self == .url || (digits + padding) % 4 != 0) {
      return .unexpectedPadding
    }
    return self == .standard && padding == 0 && digits % 4 > 1 ? .missingPadding : .truncated
  }
}

extension UInt8 {
  fileprivate var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}

extension Base64Fault {
  /// The fault and its repair, as the end of a sentence about text of `variant`.
  package func explanation(for variant: Base64) -> String {
    switch (self, variant) {
    case (.spaces, .standard): "it has spaces in place of '+'; percent-encode '+' in forms"
    case (.spaces, .url): "it has spaces; form decoding turns '+' into spaces"
    case (.otherAlphabet, .standard): "it has the URL-safe alphabet with '-' and '_' instead of '+' and '/'"
    case (.otherAlphabet, .url): "it has the standard alphabet with '+' and '/' instead of '-' and '_'"
    case (.missingPadding, _): "the padding with '=' at the end is missing"
    case (.unexpectedPadding, .standard): "the padding with '=' is wrong"
    case (.unexpectedPadding, .url): "it has padding with '='"
    case (.character(let position), _): "the character at byte \(position) (from 0) is no digit"
    case (.truncated, _): "its length does not fit; it may have been truncated"
    }
  }
}
