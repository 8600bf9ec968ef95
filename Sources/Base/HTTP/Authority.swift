/// The host and port that a request or an origin names (RFC 3986, section 3.2), without user information, which
/// RFC 9110, section 4.2.4, forbids.
package struct Authority: Hashable, Sendable {
  /// In lower case, with port.
  package let text: String
  /// In lower case; an IPv6 address has brackets. Empty if the target has no host.
  package let host: String

  /// Decodes a `host` field or an `:authority`; `nil` for anything else.
  package init?(_ text: some StringProtocol) {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let lowercase = text.lowercased()
    guard let end = Self.endOfHost(lowercase[...]) else { return nil }
    let port = lowercase[end...]
    guard port.isEmpty || (port.hasPrefix(":") && port.dropFirst().allSatisfy(\.isWholeNumber)) else {
      return nil
    }
    self.text = lowercase
    host = String(lowercase[..<end])
  }

  private static func endOfHost(_ text: Substring) -> Substring.Index? {
    guard text.hasPrefix("[") else {
      let end = text.firstIndex(of: ":") ?? text.endIndex
      return text[..<end].allSatisfy(isNamePart) ? end : nil
    }
    guard let bracket = text.firstIndex(of: "]") else { return nil }
    let address = text[..<bracket].dropFirst()
    guard !address.isEmpty, address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
      return nil
    }
    return text.index(after: bracket)
  }

  /// Whether a character may be in a registered name.
  private static func isNamePart(_ character: Character) -> Bool {
    character.isLetter || character.isWholeNumber || "-._~!$&'()*+,;=%".contains(character)
  }
}
