internal import AppStore

extension CustomerKey {
  /// A hash that is the same in every process and every version, because stores contain it: rows of customers and
  /// announcements of their changes.
  ///
  /// Collisions can be constructed, but only customers with verified evidence have rows, so a long probe
  /// sequence would need as many purchases.
  package var storedHash: Int64 {
    var hash: UInt64 = 0
    Self.mix(appID, into: &hash)
    Self.mix(environment.rawValue, into: &hash)
    Self.mix(customerID, into: &hash)
    // 35 bits: SQLite stores such an integer in five bytes and compares it faster than a longer one.
    return Int64(hash >> 29)
  }

  /// Mixes eight bytes at a time: byte by byte, hashing would cost as much as the page lookup.
  private static func mix(_ text: String, into hash: inout UInt64) {
    let bytes = text.utf8.span.bytes
    var position = 0
    var rest = UInt64(bytes.byteCount)
    while position + 8 <= bytes.byteCount {
      add(bytes.word(at: position), to: &hash)
      position += 8
    }
    while position < bytes.byteCount {
      rest = rest << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self))
      position += 1
    }
    add(rest, to: &hash)
  }

  /// Mixes one word into the hash.
  private static func add(_ word: UInt64, to hash: inout UInt64) {
    // The multiplier is 2^64 divided by the golden ratio. It spreads every bit to the upper bits, and the
    // shift brings those down again.
    hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 32
  }
}

extension RawSpan {
  /// Reads eight bytes at `position`, little-endian. The caller must ensure that they exist.
  package func word(at position: Int) -> UInt64 {
    UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
  }
}
