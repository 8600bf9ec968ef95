/// Whether both hold the same bytes. The time depends on the lengths only, so that it reveals nothing about a
/// secret's content.
package func constantTimeEquals(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt64 = 0
  var offset = 0
  while offset + 8 <= left.count {
    difference |= left.word(at: offset) ^ right.word(at: offset)
    offset += 8
  }
  while offset < left.count {
    difference |= UInt64(left[offset] ^ right[offset])
    offset += 1
  }
  return difference == 0
}

/// Whether both hold the same bytes. The time depends on the lengths only, so that it reveals nothing about a
/// secret's content.
package func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  left.withUnsafeBytes { left in right.withUnsafeBytes { constantTimeEquals(left, $0) } }
}

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes; not for secrets.
  ///
  /// Compares 32 bytes, then eight bytes at a time, where the standard library compares byte by byte: fields of
  /// requests are compared with names and paths, certificate chains with those already verified.
  @inline(__always)
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var offset = 0
    while offset + 32 <= count {
      let block = loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
      guard block == other.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self) else { return false }
      offset += 32
    }
    while offset + 8 <= count {
      guard word(at: offset) == other.word(at: offset) else { return false }
      offset += 8
    }
    // The last word overlaps the one before.
    if count >= 8 { return offset == count || word(at: count - 8) == other.word(at: count - 8) }
    while offset < count {
      guard self[offset] == other[offset] else { return false }
      offset += 1
    }
    return true
  }

  /// Whether this is the given text. Always inlined: a comparison with a constant needs no call and no loop.
  @inline(__always)
  package func equals(_ text: StaticString) -> Bool {
    hasSameBytes(as: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  fileprivate func word(at offset: Int) -> UInt64 { loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
}

extension String {
  /// Whether both have the same bytes in UTF-8; not for secrets. `==` is also true for canonically equivalent texts, such as
  /// `é` and an `e` with a combining accent: other ids for every other program.
  package func hasSameBytes(as other: String) -> Bool {
    utf8.span.bytes.withUnsafeBytes { bytes in
      other.utf8.span.bytes.withUnsafeBytes { bytes.hasSameBytes(as: $0) }
    }
  }
}

extension ArraySlice<UInt8> {
  /// Whether both hold the same bytes; not for secrets.
  package func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
    withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.hasSameBytes(as: $0) } }
  }
}
