/// The caller's part of a `traceparent` header (W3C Trace Context, "traceparent Header").
package struct TraceParent: Hashable, Sendable {
  /// The 16 bytes of the trace id as two numbers, not both zero.
  package let high: UInt64
  /// The last eight bytes.
  package let low: UInt64
  /// The id of the caller's span, not zero.
  package let span: UInt64
  /// Whether the caller records the trace.
  package let isSampled: Bool

  /// Parses the bytes of a header; `nil` if it is malformed. Reads the bytes in place, because calls on event loops pass here.
  package init?(_ text: UnsafeRawBufferPointer) {
    let dash = UInt8(ascii: "-")
    guard text.count >= Self.length, text[2] == dash, text[35] == dash, text[52] == dash,
      let version = Self.pair(text, at: 0), version != 0xFF,
      text.count == Self.length || (version != 0 && text[Self.length] == dash),
      let high = Self.number(text, at: 3), let low = Self.number(text, at: 19),
      let span = Self.number(text, at: 36), let flags = Self.pair(text, at: 53),
      high | low != 0, span != 0
    else { return nil }
    self.high = high
    self.low = low
    self.span = span
    isSampled = flags & 1 == 1
  }

  /// Parses the text of a header; `nil` if it is malformed.
  package init?(_ text: String) {
    var text = text
    guard let parent = text.withUTF8({ TraceParent(UnsafeRawBufferPointer($0)) }) else { return nil }
    self = parent
  }

  /// Version, trace id, span id and flags, with three dashes.
  private static let length = 55

  /// The number in 16 lowercase hexadecimal digits; `nil` for other bytes.
  private static func number(_ text: UnsafeRawBufferPointer, at offset: Int) -> UInt64? {
    guard let high = eightDigits(text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
      let low = eightDigits(text.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
    else { return nil }
    return high << 32 | low
  }

  /// The number in two lowercase hexadecimal digits; `nil` for other bytes.
  private static func pair(_ text: UnsafeRawBufferPointer, at offset: Int) -> UInt64? {
    let zeros: UInt64 = 0x3030_3030_3030
    return eightDigits(zeros | UInt64(text[offset]) << 48 | UInt64(text[offset + 1]) << 56)
  }

  /// The number in eight lowercase hexadecimal digits, the first in the lowest byte of `text`; `nil` for other bytes.
  ///
  /// Converts all digits at once, because a loop over the digits of a `traceparent` costs more than the rest of its parsing.
  private static func eightDigits(_ text: UInt64) -> UInt64? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    // 1 in each byte that is a letter, if the byte is a digit at all.
    let letters = text >> 6 & ones
    let values = (text & 0x0F0F_0F0F_0F0F_0F0F) + 9 * letters
    // The digit of each value: '0' is 0x30, and 'a' follows '9' after a gap of 0x27.
    let isDigit = values + 0x30 * ones + 0x27 * letters == text
    // 10 to 15 for letters, 0 to 9 for the others: adding six carries into the fifth bit from ten on.
    let isInRange = (values + 6 * ones) >> 4 & ones == letters && values >> 4 & ones == 0
    guard isDigit, isInRange else { return nil }
    var number = values.byteSwapped
    number = (number | number >> 4) & 0x00FF_00FF_00FF_00FF
    number = (number | number >> 8) & 0x0000_FFFF_0000_FFFF
    return (number | number >> 16) & 0xFFFF_FFFF
  }
}
