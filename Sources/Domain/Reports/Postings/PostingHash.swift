/// A 64-bit hash in the manner of FNV-1a, with eight bytes at a time.
struct PostingHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ number: UInt64) {
    value = (value ^ number) &* 0x100_0000_01B3
    // Without it, the upper bits of a number never reach the lower ones.
    value ^= value >> 29
  }

  mutating func add(_ text: String) {
    var (word, count): (UInt64, UInt64) = (0, 0)
    for byte in text.utf8 {
      word = word << 8 | UInt64(byte)
      count += 1
      guard count % 8 == 0 else { continue }
      add(word)
      word = 0
    }
    add(word)
    add(count)
  }

  mutating func add(_ dimensions: Posting.Dimensions) {
    for text in [dimensions.productID, dimensions.group, dimensions.storefront, dimensions.offerKind] {
      add(text)
    }
  }
}

extension ReportCell.Key {
  /// A hash of the dimensions, the reason and the currency, equal in every process: it is stored.
  package var groupFingerprint: UInt64 {
    var hash = PostingHash()
    hash.add(dimensions)
    hash.add(reason)
    hash.add(currency)
    return hash.value
  }
}
