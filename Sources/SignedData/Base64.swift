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
        decodingTable.withUnsafeBufferPointer { unpack(digits, $0, to: sink) }
      }
      written = isWhole ? count : 0
    }
    return isWhole ? bytes : nil
  }

  /// Four digits to three bytes. False if one is no digit, or if bits are left over that are not zero.
  ///
  /// A notification has some ten thousand digits: here each check of an index would cost as much as the digit.
  private func unpack(
    _ digits: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt8>,
    to sink: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    // Every value read, or-ed together: what is no digit leaves a bit above the six that digits have.
    var seen: UInt8 = 0
    let whole = digits.count / 4
    for group in 0..<whole {
      let first = values[Int(digits[4 * group])]
      let second = values[Int(digits[4 * group + 1])]
      let third = values[Int(digits[4 * group + 2])]
      let fourth = values[Int(digits[4 * group + 3])]
      seen |= first | second | third | fourth
      sink[3 * group] = first << 2 | second >> 4
      sink[3 * group + 1] = second << 4 | third >> 2
      sink[3 * group + 2] = third << 6 | fourth
    }
    guard seen < 64 else { return false }
    return unpackRest(
      UnsafeBufferPointer(rebasing: digits[(4 * whole)...]), values, to: sink, from: 3 * whole)
  }

  /// The last two or three digits, if there are any: one byte or two, and bits that must be zero.
  private func unpackRest(
    _ digits: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt8>,
    to sink: UnsafeMutableBufferPointer<UInt8>, from start: Int
  ) -> Bool {
    guard digits.count > 1 else { return true }
    let (first, second) = (values[Int(digits[0])], values[Int(digits[1])])
    let third = digits.count > 2 ? values[Int(digits[2])] : 0
    sink[start] = first << 2 | second >> 4
    guard digits.count > 2 else { return first | second < 64 && second << 4 == 0 }
    sink[start + 1] = second << 4 | third >> 2
    return first | second | third < 64 && third << 6 == 0
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
