/// The host and port that a request or an origin names (RFC 3986, section 3.2), without user information, which
/// RFC 9110, section 4.2.4, forbids.
package struct Authority: Hashable, Sendable {
  /// In lower case, with port.
  package let text: String
  /// In lower case; an IPv6 address has brackets. Empty if the target has no host.
  package let host: String

  /// Decodes a `host` field or an `:authority`; `nil` for anything else.
  package init?(_ text: some StringProtocol) {
    // Bytes, because every request has a host, and a character takes many times as long.
    var bytes = Array(text.utf8)
    for index in bytes.indices where UInt8(ascii: "A")...UInt8(ascii: "Z") ~= bytes[index] {
      bytes[index] |= 0x20
    }
    guard let end = Self.endOfHost(bytes) else { return nil }
    let port = bytes[end...]
    guard port.isEmpty || (port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(Self.isDigit))
    else {
      return nil
    }
    self.text = String(decoding: bytes, as: UTF8.self)
    host = String(decoding: bytes[..<end], as: UTF8.self)
  }

  private static func endOfHost(_ text: [UInt8]) -> Int? {
    guard text.first == UInt8(ascii: "[") else {
      let end = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
      return text[..<end].allSatisfy(isNamePart) ? end : nil
    }
    guard let bracket = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
    let address = text[1..<bracket]
    return !address.isEmpty && address.allSatisfy(isAddressPart) ? bracket + 1 : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  /// Whether a byte may be in an IPv6 address.
  private static func isAddressPart(_ byte: UInt8) -> Bool {
    isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte || ":.".utf8.contains(byte)
  }

  /// Whether a byte may be in a registered name.
  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    // $ % & ' ( ) * + , - .
    case UInt8(ascii: "$")...UInt8(ascii: "."): true
    case UInt8(ascii: "!"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: false
    }
  }
}
