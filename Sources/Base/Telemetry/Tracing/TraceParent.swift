/// The caller's part of a `traceparent` header (W3C Trace Context, "traceparent Header").
package struct TraceParent: Hashable, Sendable {
  /// The 16 bytes of the trace id as two numbers, not both zero.
  package let high: UInt64
  package let low: UInt64
  /// The id of the caller's span, not zero.
  package let span: UInt64
  /// Whether the caller records the trace.
  package let isSampled: Bool

  /// Parses the bytes of a header; `nil` if it is malformed. Reads the bytes in place, because calls on event loops pass here.
  package init?(_ text: UnsafeRawBufferPointer) {
    let dash = UInt8(ascii: "-")
    guard text.count >= Self.length, text[2] == dash, text[35] == dash, text[52] == dash,
      let version = Self.number(text, 0..<2), version != 0xFF,
      text.count == Self.length || (version != 0 && text[Self.length] == dash),
      let high = Self.number(text, 3..<19), let low = Self.number(text, 19..<35),
      let span = Self.number(text, 36..<52), let flags = Self.number(text, 53..<55),
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

  /// The number in at most 16 lowercase hexadecimal digits; `nil` for other bytes.
  private static func number(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt64? {
    var number: UInt64 = 0
    var digits: UInt64 = 0
    for index in range {
      let byte = text[index]
      let decimal = UInt64(truncatingIfNeeded: byte &- UInt8(ascii: "0"))
      let letter = UInt64(truncatingIfNeeded: byte &- UInt8(ascii: "a") &+ 10)
      let isDecimal = decimal < 10
      // Without a branch for each digit: what is neither is 16 or more.
      let digit = isDecimal ? decimal : (letter < 10 ? 16 : letter)
      digits |= digit
      number = number << 4 | digit
    }
    return digits < 16 ? number : nil
  }
}
