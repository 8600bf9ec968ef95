/// A 64-bit hash in the manner of FNV-1a, with eight bytes at a time.
struct PostingHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ number: UInt64) {
    value = (value ^ number) &* 0x100_0000_01B3
    // Without it, the upper bits of a number never reach the lower ones.
    value ^= value >> 29
  }

  mutating func add(_ text: String) {
    if text.utf8.withContiguousStorageIfAvailable({ add($0) }) != nil { return }
    var text = text
    text.withUTF8 { add($0) }
  }

  /// Adds the bytes by words of eight, and their number, so that two texts differ from one text of both.
  private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    var position = 0
    // Bytes of a word in the order of the text, whatever the machine.
    while position + 8 <= bytes.count {
      let raw = UnsafeRawBufferPointer(bytes)
      add(UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
      position += 8
    }
    var word: UInt64 = 0
    while position < bytes.count {
      word = word << 8 | UInt64(bytes[position])
      position += 1
    }
    add(word)
    add(UInt64(bytes.count))
  }

  mutating func add(_ dimensions: Posting.Dimensions) { add(dimensions.fingerprint) }
}

extension Posting.Dimensions {
  /// A hash of the text of one dimension, equal in every process: a part of it is stored.
  package static func fingerprint(of text: String) -> UInt64 {
    var hash = PostingHash()
    hash.add(text)
    return hash.value
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
