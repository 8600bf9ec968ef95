import RPC
import Testing

@Suite struct MessageFrameTests {
  @Test("A message frame starts with its flag and length")
  func prefix() {
    var bytes: [UInt8] = []
    MessageFrame.append([7, 8, 9], to: &bytes, encoding: .identity)
    #expect(bytes == [0, 0, 0, 0, 3, 7, 8, 9])
  }

  @Test(
    "A message survives framing and gzip", arguments: [MessageEncoding.identity, .gzip], [0, 1, 100_000])
  func round(encoding: MessageEncoding, length: Int) throws {
    let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 / 7) }
    var bytes: [UInt8] = []
    MessageFrame.append(message, to: &bytes, encoding: encoding)
    #expect(try unpacked(bytes, encoding, limit: 100_000) == message)
  }

  @Test("An incomplete prefix is not decoded", arguments: 0...4)
  func incomplete(length: Int) throws {
    let bytes = [UInt8](repeating: 0, count: length)
    #expect(try bytes.withUnsafeBytes { try MessageFrame(prefixOf: $0, limit: 10) } == nil)
  }

  @Test("A length over the limit and an invalid flag are rejected")
  func refused() {
    #expect(throws: FramingError.tooLarge(limit: 10)) {
      try unpacked([0, 0, 0, 0, 11], .identity, limit: 10)
    }
    #expect(throws: FramingError.badFlag(2)) { try unpacked([2, 0, 0, 0, 0], .identity, limit: 10) }
  }

  @Test("Decompression stops at the size limit")
  func bomb() {
    var bytes: [UInt8] = []
    MessageFrame.append([UInt8](repeating: 0, count: 10_000_000), to: &bytes, encoding: .gzip)
    #expect(bytes.count < 100_000)
    #expect(throws: FramingError.tooLarge(limit: 1_000_000)) { try unpacked(bytes, .gzip, limit: 1_000_000) }
  }

  @Test(
    "Corrupt or truncated compressed data is an error",
    arguments: [[1, 2, 3], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], []] as [[UInt8]])
  func damaged(packed: [UInt8]) {
    let bytes = [1, 0, 0, 0, UInt8(packed.count)] + packed
    #expect(throws: FramingError.badCompression) { try unpacked(bytes, .gzip, limit: 1_000) }
  }

  @Test("Bytes after the compressed data are an error, another compressed text too")
  func trailingBytes() {
    var bytes: [UInt8] = []
    MessageFrame.append([7, 8], to: &bytes, encoding: .gzip)
    for rest in [[0], Array(bytes.dropFirst(MessageFrame.prefixLength))] {
      var longer = bytes + rest
      longer[4] += UInt8(rest.count)
      #expect(throws: FramingError.badCompression) { try unpacked(longer, .gzip, limit: 1_000) }
    }
  }

  @Test("A compressed message without grpc-encoding is an error")
  func withoutEncoding() {
    #expect(throws: FramingError.compressedWithoutEncoding) {
      try unpacked([1, 0, 0, 0, 0], .identity, limit: 10)
    }
  }

  private func unpacked(_ bytes: [UInt8], _ encoding: MessageEncoding, limit: Int) throws -> [UInt8] {
    try bytes.withUnsafeBytes { bytes in
      let frame = try #require(try MessageFrame(prefixOf: bytes, limit: limit))
      return try frame.message(in: bytes, encoding: encoding, limit: limit)
    }
  }
}
