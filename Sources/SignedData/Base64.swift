/// Base64 and base64url (RFC 4648), as strict as signatures need: one text for one sequence of bytes.
///
/// No whitespace, no missing or superfluous padding, and no stray bits in the last character.
package enum Base64: Sendable {
  /// The alphabet with `+` and `/`, padded with `=`.
  case standard
  /// The alphabet with `-` and `_`, without padding.
  case url

  /// Writes `bytes` as text.
  package func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.underestimatedCount + 2) / 3 * 4)
    var pending: UInt32 = 0
    var pendingBits = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      pendingBits += 8
      while pendingBits >= 6 {
        pendingBits -= 6
        text.append(character(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)) & 0x3F))
      }
    }
    if pendingBits > 0 {
      text.append(character(UInt8(truncatingIfNeeded: pending << UInt32(6 - pendingBits)) & 0x3F))
    }
    if case .standard = self {
      while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    }
    return text
  }

  /// Reads `text`, or `nil` if it is not exactly what ``encode(_:)`` would write.
  package func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let digits = withoutPadding(text), digits.count % 4 != 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: digits.count * 3 / 4)
    guard unpack(digits.span, to: bytes.mutableSpan) else { return nil }
    return bytes
  }

  /// Four digits to three bytes, for as long as there are four. False if one is no digit, or if bits
  /// are left over that are not zero.
  private func unpack(_ digits: Span<UInt8>, to sink: consuming MutableSpan<UInt8>) -> Bool {
    let table = decodingTable
    let values = table.span
    // Every value read, or-ed together: what is no digit leaves a bit above the six that digits have.
    var seen: UInt8 = 0
    func value(_ position: Int) -> UInt8 {
      guard position < digits.count else { return 0 }
      let value = values[Int(digits[position])]
      seen |= value
      return value
    }
    var filled = 0
    for start in stride(from: 0, to: digits.count, by: 4) {
      let (first, second) = (value(start), value(start + 1))
      let (third, fourth) = (value(start + 2), value(start + 3))
      let group = (first << 2 | second >> 4, second << 4 | third >> 2, third << 6 | fourth)
      sink[filled] = group.0
      guard filled + 2 < sink.count else {
        // The last group: what does not make a byte of its own must be zero.
        if filled + 1 < sink.count { sink[filled + 1] = group.1 }
        return seen < 64 && (filled + 1 < sink.count ? group.2 : group.1) == 0
      }
      sink[filled + 1] = group.1
      sink[filled + 2] = group.2
      filled += 3
    }
    return seen < 64
  }

  private func withoutPadding(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard case .standard = self else { return text }
    guard text.count % 4 == 0 else { return nil }
    if text.suffix(2).elementsEqual([UInt8(ascii: "="), UInt8(ascii: "=")]) { return text.dropLast(2) }
    return text.last == UInt8(ascii: "=") ? text.dropLast() : text
  }

  private func character(_ value: UInt8) -> UInt8 {
    switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + value - 26
    case 52..<62: UInt8(ascii: "0") + value - 52
    case 62: UInt8(ascii: self == .url ? "-" : "+")
    default: UInt8(ascii: self == .url ? "_" : "/")
    }
  }

  private var decodingTable: [UInt8] { self == .url ? Self.urlValues : Self.standardValues }
  private static let urlValues = Base64.url.makeDecodingTable()
  private static let standardValues = Base64.standard.makeDecodingTable()

  private func makeDecodingTable() -> [UInt8] {
    var table = [UInt8](repeating: invalid, count: 256)
    for value in UInt8(0)..<64 { table[Int(character(value))] = value }
    return table
  }
}

/// Marks the bytes that stand for no value.
private let invalid: UInt8 = 0xFF
