internal import Glibc

// A document has a few thousand bytes and each is looked at twice before its signature is: by the C
// library, which takes 32 at a time, this costs 4 % less of a verification than byte by byte.
extension ArraySlice<UInt8> {
  /// Whether both hold the same bytes.
  package func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
    withUnsafeBytes { bytes in
      other.withUnsafeBytes { others in
        guard bytes.count == others.count else { return false }
        guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return true }
        return memcmp(start, otherStart, bytes.count) == 0
      }
    }
  }

  /// Where a byte occurs first.
  func firstPosition(of byte: UInt8) -> Int? {
    withUnsafeBytes { bytes -> Int? in
      guard let start = bytes.baseAddress, let found = memchr(start, CInt(byte), bytes.count) else {
        return nil
      }
      return startIndex + (UnsafeRawPointer(found) - start)
    }
  }
}
