/// Counts the elements of BER before a parser builds something for each of them.
///
/// An element can be two bytes long and costs a parser a hundred: without the count, a receipt of some
/// megabytes would take some hundreds.
package enum ASN1ElementCounter {
  /// Whether `bytes` hold more than `limit` elements, however deep. Whether they are well formed is for
  /// the parser to say: where they are not, the count just ends.
  package static func exceeds(_ limit: Int, in bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    var count = 0
    while let header = ElementHeader(readingFrom: &rest) {
      count += 1
      guard count <= limit else { return true }
      // What is in a constructed element comes next and is counted; other content is passed over.
      if !header.isConstructed { rest = rest.dropFirst(header.length) }
    }
    return false
  }
}

/// The first bytes of an element (X.690, section 8.1): what it is and how long.
private struct ElementHeader {
  let isConstructed: Bool
  /// 0 also for an indefinite length, which only constructed elements have.
  let length: Int

  init?(readingFrom rest: inout ArraySlice<UInt8>) {
    guard let identifier = rest.popFirst() else { return nil }
    isConstructed = identifier & 0x20 != 0
    if identifier & 0x1F == 0x1F {
      // A tag number of several bytes, of which the last has its highest bit clear.
      while let byte = rest.popFirst(), byte & 0x80 != 0 {}
    }
    guard let first = rest.popFirst() else { return nil }
    guard first & 0x80 != 0 else {
      length = Int(first)
      return
    }
    var value = 0
    for _ in 0..<(first & 0x7F) {
      guard let byte = rest.popFirst(), value < 1 << 40 else { return nil }
      value = value << 8 | Int(byte)
    }
    length = value
  }
}
