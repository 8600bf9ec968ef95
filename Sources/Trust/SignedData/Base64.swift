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
    let count = digits.count * 3 / 4
    var isWhole = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { sink, written in
      isWhole = digits.withUnsafeBufferPointer { digits in
        decodingTable.withUnsafeBufferPointer { unpack(digits, $0, to: UnsafeMutableRawBufferPointer(sink)) }
      }
      written = isWhole ? count : 0
    }
    return isWhole ? bytes : nil
  }

  /// Four digits to three bytes. False if one is no digit, or if bits are left over that are not zero.
  ///
  /// A notification has some ten thousand digits: here each check of an index would cost as much as the digit.
  private func unpack(
    _ digits: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt32>,
    to sink: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard !digits.isEmpty else { return true }
    // All groups or-ed together: what is no digit leaves a bit above the three bytes.
    var seen: UInt32 = 0
    let last = (digits.count - 1) / 4
    for group in 0..<last {
      let bytes =
        values[Int(digits[4 * group])] | values[256 + Int(digits[4 * group + 1])]
        | values[512 + Int(digits[4 * group + 2])] | values[768 + Int(digits[4 * group + 3])]
      seen |= bytes
      // The fourth byte is overwritten by what comes next, which is at least one byte.
      sink.storeBytes(of: bytes.littleEndian, toByteOffset: 3 * group, as: UInt32.self)
    }
    return seen <= threeBytes && unpackLast(digits[(4 * last)...], values, to: sink, from: 3 * last)
  }

  /// The last two, three or four digits: one byte less, and bits that must be zero.
  private func unpackLast(
    _ digits: Slice<UnsafeBufferPointer<UInt8>>, _ values: UnsafeBufferPointer<UInt32>,
    to sink: UnsafeMutableRawBufferPointer, from start: Int
  ) -> Bool {
    var bytes: UInt32 = 0
    for (position, digit) in digits.enumerated() { bytes |= values[256 * position + Int(digit)] }
    for position in 0..<digits.count - 1 {
      sink[start + position] = UInt8(truncatingIfNeeded: bytes)
      bytes >>= 8
    }
    return bytes == 0
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

  private var decodingTable: [UInt32] { self == .url ? Self.urlValues : Self.standardValues }
  private static let urlValues = Base64.url.makeDecodingTable()
  private static let standardValues = Base64.standard.makeDecodingTable()

  /// What a digit adds to the three bytes of its group, the first byte lowest: 256 entries for each of the four
  /// places that it can have.
  private func makeDecodingTable() -> [UInt32] {
    var table = [UInt32](repeating: ~threeBytes, count: 4 * 256)
    for digit in UInt8(0)..<64 {
      let (value, index) = (UInt32(digit), Int(character(digit)))
      table[index] = value << 2
      table[256 + index] = value >> 4 | (value & 0xF) << 12
      table[512 + index] = (value >> 2) << 8 | (value & 0x3) << 22
      table[768 + index] = value << 16
    }
    return table
  }
}

/// The bits of a group; others mark what is no digit.
private let threeBytes: UInt32 = 0xFF_FFFF
