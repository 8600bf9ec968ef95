/// Hexadecimal text, two digits a byte.
package enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns the bytes in lowercase digits.
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xF)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the number in 16 lowercase digits, highest first.
  package static func encode(_ number: UInt64) -> String {
    encode((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
  }

  /// Returns the bytes of text in digits of either case, or `nil` if it is anything else.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      guard let value = value(digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }

  /// Returns the number that a digit of either case means; `nil` for other bytes.
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension String {
  /// Whether it has the form of a UUID: hexadecimal digits of either case in groups of 8, 4, 4, 4 and 12 (RFC 9562,
  /// section 4). Apple's tokens and identifiers have it, whatever the version and the variant.
  package var isUUID: Bool {
    let groups = split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { Hex.decode($0) != nil }
  }
}
