/// Base64 and base64url (RFC 4648). Decoding is strict, as signatures need: one text for one sequence of
/// bytes.
///
/// Rejects whitespace, missing or superfluous padding, and stray bits in the last character.
package enum Base64: Sendable {
  /// The alphabet with `+` and `/`, padded with `=`.
  case standard
  /// The alphabet with `-` and `_`, without padding.
  case url

  /// Returns the text of `bytes`. `padded: false` omits the padding of ``standard``.
  package func encode(_ bytes: some Sequence<UInt8>, padded: Bool = true) -> String {
    String(decoding: encodeUTF8(bytes, padded: padded), as: UTF8.self)
  }

  /// Returns the text of `bytes` as ASCII bytes, for callers that continue working with bytes.
  ///
  /// Only the access to the bytes is generic: documents are encoded each time that evidence is read or signed, and a
  /// loop over a sequence of unknown type took 25 times as long.
  package func encodeUTF8(_ bytes: some Sequence<UInt8>, padded: Bool = true) -> [UInt8] {
    if let text = bytes.withContiguousStorageIfAvailable({ pack($0, padded: padded) }) { return text }
    return Array(bytes).withUnsafeBufferPointer { pack($0, padded: padded) }
  }

  private func pack(_ bytes: UnsafeBufferPointer<UInt8>, padded: Bool) -> [UInt8] {
    let digits = self == .url ? Self.urlDigits : Self.standardDigits
    let size = (bytes.count + 2) / 3 * 4
    return [UInt8](unsafeUninitializedCapacity: size) { text, written in
      for start in stride(from: 0, to: bytes.count, by: 3) {
        let (second, third) = (start + 1 < bytes.count, start + 2 < bytes.count)
        let group =
          Int(bytes[start]) << 16 | (second ? Int(bytes[start + 1]) << 8 : 0)
          | (third ? Int(bytes[start + 2]) : 0)
        let position = start / 3 * 4
        text[position] = digits[group >> 18]
        text[position + 1] = digits[group >> 12 & 0x3F]
        text[position + 2] = second ? digits[group >> 6 & 0x3F] : UInt8(ascii: "=")
        text[position + 3] = third ? digits[group & 0x3F] : UInt8(ascii: "=")
      }
      let isPadded = padded && self == .standard
      written = isPadded ? size : (bytes.count * 4 + 2) / 3
    }
  }

  /// Returns the bytes of `text`, or `nil` if it is not exactly what ``encode(_:padded:)`` returns.
  package func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)[...]) }

  /// Returns the bytes of ASCII `text`, or `nil` if it is not exactly what ``encodeUTF8(_:padded:)`` returns.
  package func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let digits = withoutPadding(text) else { return nil }
    return decode(digits: digits, allowsStrayBits: false)
  }

  /// Decodes ASCII `text` without padding into `sink`, whose size is that of its bytes. Allocates nothing.
  ///
  /// - Returns: whether the text is valid.
  package func decode(_ text: UnsafeRawBufferPointer, into sink: UnsafeMutableRawBufferPointer) -> Bool {
    guard text.count % 4 != 1, sink.count == text.count * 3 / 4 else { return false }
    return text.withMemoryRebound(to: UInt8.self) { digits in
      decodingTable.withUnsafeBufferPointer { unpack(digits, $0, to: sink, allowsStrayBits: false) }
    }
  }

  /// Returns the bytes of `text` for formats that accept padding but do not require it, and ignore stray
  /// bits: gRPC's binary metadata and protobuf's JSON form. `nil` for another character or length.
  package func decodeLeniently(_ text: String) -> [UInt8]? {
    var digits = Array(text.utf8)[...]
    if digits.count % 4 == 0 {
      for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
    }
    return decode(digits: digits, allowsStrayBits: true)
  }

  private func decode(digits: ArraySlice<UInt8>, allowsStrayBits: Bool) -> [UInt8]? {
    guard digits.count % 4 != 1 else { return nil }
    let count = digits.count * 3 / 4
    var isValid = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { sink, written in
      isValid = digits.withUnsafeBufferPointer { digits in
        decodingTable.withUnsafeBufferPointer {
          unpack(
            digits, $0, to: UnsafeMutableRawBufferPointer(sink), allowsStrayBits: allowsStrayBits)
        }
      }
      written = isValid ? count : 0
    }
    return isValid ? bytes : nil
  }

  /// Decodes four digits to three bytes at a time. Returns false for an invalid digit or forbidden stray
  /// bits.
  ///
  /// A notification has some ten thousand digits; a bounds check for each would cost as much as decoding it.
  private func unpack(
    _ digits: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt32>,
    to sink: UnsafeMutableRawBufferPointer, allowsStrayBits: Bool
  ) -> Bool {
    guard !digits.isEmpty else { return true }
    // All groups or-ed together: an invalid digit leaves a bit above the three bytes.
    var seen: UInt32 = 0
    let last = (digits.count - 1) / 4
    for group in 0..<last {
      let bytes =
        values[Int(digits[4 * group])] | values[256 + Int(digits[4 * group + 1])]
        | values[512 + Int(digits[4 * group + 2])] | values[768 + Int(digits[4 * group + 3])]
      seen |= bytes
      // The next group, which has at least one byte, overwrites the fourth byte.
      sink.storeBytes(of: bytes.littleEndian, toByteOffset: 3 * group, as: UInt32.self)
    }
    return seen <= threeBytes
      && unpackLast(
        digits[(4 * last)...], values, to: sink, from: 3 * last, allowsStrayBits: allowsStrayBits)
  }

  /// Decodes the last two, three or four digits to one byte less; the bits left over should be zero.
  private func unpackLast(
    _ digits: Slice<UnsafeBufferPointer<UInt8>>, _ values: UnsafeBufferPointer<UInt32>,
    to sink: UnsafeMutableRawBufferPointer, from start: Int, allowsStrayBits: Bool
  ) -> Bool {
    var bytes: UInt32 = 0
    for (index, digit) in digits.enumerated() { bytes |= values[256 * index + Int(digit)] }
    guard bytes <= threeBytes else { return false }
    for index in 0..<digits.count - 1 {
      sink[start + index] = UInt8(truncatingIfNeeded: bytes)
      bytes >>= 8
    }
    return bytes == 0 || allowsStrayBits
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

  private static let urlDigits = (UInt8(0)..<64).map(Base64.url.character)
  private static let standardDigits = (UInt8(0)..<64).map(Base64.standard.character)

  private var decodingTable: [UInt32] { self == .url ? Self.urlValues : Self.standardValues }
  private static let urlValues = Base64.url.makeDecodingTable()
  private static let standardValues = Base64.standard.makeDecodingTable()

  /// Builds a table of the bits that a digit adds to the three bytes of its group, first byte lowest: 256
  /// entries for each of the four positions of a digit.
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

/// The bits of a group; higher bits mark an invalid digit.
private let threeBytes: UInt32 = 0xFF_FFFF
