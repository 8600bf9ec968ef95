/// Variable-length integers as protobuf encodes them: seven bits a byte, lowest first; the highest bit of a
/// byte marks that another one follows. 64 bits take at most ten bytes.
package enum Varint {
  /// The most bytes that one integer takes.
  package static let maxBytes = 10

  /// Returns the integer at `offset` and moves `offset` after it; `nil` if it is truncated or longer than ten
  /// bytes.
  @inlinable
  @inline(__always)
  package static func read(_ bytes: Span<UInt8>, at offset: inout Int) -> UInt64? {
    // One byte, the usual case, is read without a loop.
    if offset < bytes.count, bytes[offset] < 0x80 {
      offset += 1
      return UInt64(bytes[offset - 1])
    }
    return bytes.withUnsafeBytes { readLong($0, at: &offset) }
  }

  /// Returns the integer at `offset` and moves `offset` after it; `nil` if it is truncated or longer than ten
  /// bytes.
  @inlinable
  @inline(__always)
  package static func read(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UInt64? {
    if offset < bytes.count, bytes[offset] < 0x80 {
      offset += 1
      return UInt64(bytes[offset - 1])
    }
    return readLong(bytes, at: &offset)
  }

  @usableFromInline
  /// Reads a varint of several bytes; `nil` if it is truncated or longer than 64 bits.
  package static func readLong(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 7 * UInt64(maxBytes), by: 7) {
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }

  /// Appends an integer.
  @inlinable
  package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes an integer at `position`, which must have room for it, and moves `position` after it.
  @inlinable
  @inline(__always)
  package static func write(_ value: UInt64, at position: inout UnsafeMutablePointer<UInt8>) {
    var rest = value
    while rest >= 0x80 {
      position.pointee = UInt8(truncatingIfNeeded: rest) | 0x80
      position += 1
      rest >>= 7
    }
    position.pointee = UInt8(truncatingIfNeeded: rest)
    position += 1
  }

  /// Maps small integers of either sign to small unsigned ones (protobuf's `sint64`).
  @inlinable
  package static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

  /// Reverses ``zigzag(_:)``.
  @inlinable
  package static func unzigzag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}
