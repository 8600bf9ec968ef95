/// Where the certificates of a signed receipt are (PKCS#7, RFC 2315 section 9.1); `nil` in what is none.
///
/// Only tags and lengths are looked at: a wrong guess costs space and nothing else.
func receiptCertificates(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
  var walk = Walk(bytes: bytes, position: bytes.startIndex)
  // ContentInfo: its type, then [0] SignedData: version, digest algorithms, content, [0] certificates.
  guard walk.enter(0x30), walk.skip(0x06), walk.enter(0xA0), walk.enter(0x30), walk.skip(0x02),
    walk.skip(0x31), walk.skip(0x30)
  else { return nil }
  let start = walk.position
  return walk.skip(0xA0) ? start..<walk.position : nil
}

/// Goes through DER from one element to the next.
private struct Walk {
  let bytes: ArraySlice<UInt8>
  var position: Int

  /// Goes to the first element inside one of this tag.
  mutating func enter(_ tag: UInt8) -> Bool {
    guard let contents = element(tag) else { return false }
    position = contents.lowerBound
    return true
  }

  /// Goes behind an element of this tag.
  mutating func skip(_ tag: UInt8) -> Bool {
    guard let contents = element(tag) else { return false }
    position = contents.upperBound
    return true
  }

  /// The contents of the element here, if it has this tag and a definite length within the bytes.
  private func element(_ tag: UInt8) -> Range<Int>? {
    guard position + 1 < bytes.endIndex, bytes[position] == tag else { return nil }
    var (start, length) = (position + 2, Int(bytes[position + 1]))
    if length >= 0x80 {
      let count = length - 0x80
      guard (1...3).contains(count), start + count <= bytes.endIndex else { return nil }
      length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
      start += count
    }
    return length <= bytes.endIndex - start ? start..<start + length : nil
  }
}
