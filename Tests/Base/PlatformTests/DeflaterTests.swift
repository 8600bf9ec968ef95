import Platform
import Testing

@Suite struct DeflaterTests {
  private static let dictionary = Array("\"originalTransactionId\":\"\"productId\":".utf8)

  @Test("Compressed data is restored exactly", arguments: [0, 1, 7, 300, 70_000])
  func round(count: Int) throws {
    var state: UInt64 = 1
    let bytes = (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1
      return UInt8(truncatingIfNeeded: state >> 60)
    }
    let deflater = try Deflater(dictionary: Self.dictionary)
    // Twice: the second time its memory has been used before.
    for _ in 0..<2 {
      let packed = try deflater.deflated(bytes)
      #expect(try inflated(packed[...], count: count, dictionary: Self.dictionary) == bytes)
    }
  }

  @Test("Text from the dictionary compresses to a few bytes")
  func dictionaryHelps() throws {
    let text = Array("\"originalTransactionId\":\"\"productId\":".utf8)
    #expect(try Deflater(dictionary: Self.dictionary).deflated(text).count < 12)
  }

  @Test("Truncated, extended and uncompressed data is rejected")
  func damaged() throws {
    let text = Array("a text that is packed and then damaged".utf8)
    let packed = try Deflater(dictionary: []).deflated(text)
    func unpack(_ bytes: [UInt8], _ count: Int) throws(CompressionError) -> [UInt8] {
      try inflated(bytes[...], count: count, dictionary: [])
    }
    #expect(try unpack(packed, text.count) == text)
    #expect(throws: CompressionError.damaged) { try unpack(packed.dropLast(), text.count) }
    #expect(throws: CompressionError.damaged) { try unpack(packed + [0], text.count) }
    #expect(throws: CompressionError.damaged) { try unpack(packed, text.count - 1) }
    #expect(throws: CompressionError.damaged) { try unpack(packed, text.count + 1) }
    #expect(throws: CompressionError.damaged) { try unpack([0xFF, 0xFF, 0xFF], 3) }
    #expect(throws: CompressionError.damaged) { try unpack([], 0) }
  }
}
