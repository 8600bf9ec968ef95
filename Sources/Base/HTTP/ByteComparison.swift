extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes. Eight at a time: names and paths are compared for every field of
  /// every request, and the standard library's comparison of sequences goes byte by byte.
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var offset = 0
    while offset + 8 <= count {
      guard word(at: offset) == other.word(at: offset) else { return false }
      offset += 8
    }
    while offset < count {
      guard self[offset] == other[offset] else { return false }
      offset += 1
    }
    return true
  }

  /// Whether this is the given text.
  package func equals(_ text: StaticString) -> Bool {
    hasSameBytes(as: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func word(at offset: Int) -> UInt64 { loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
}
