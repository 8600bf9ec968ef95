import Platform
import Testing

@Suite struct GzipTests {
  private static func gunzipped(_ bytes: [UInt8], limit: Int = 1_000, several: Bool) throws -> [UInt8] {
    try bytes.withUnsafeBytes { try several ? gunzipFile($0, limit: limit) : gunzip($0, limit: limit) }
  }

  @Test("A file of joined members is restored, and a message has one member")
  func severalMembers() throws {
    let (first, second) = (Array("first,".utf8), Array("second".utf8))
    let joined = try #require(gzip(first)) + #require(gzip([])) + #require(gzip(second))
    #expect(try Self.gunzipped(joined, several: true) == first + second)
    #expect(throws: CompressionError.damaged) { try Self.gunzipped(joined, several: false) }
    #expect(throws: CompressionError.damaged) { try Self.gunzipped(Array(joined.dropLast()), several: true) }
    #expect(throws: CompressionError.damaged) { try Self.gunzipped(joined + [1], several: true) }
  }

  @Test(
    "Content as large as the limit is restored, and one byte more is refused",
    arguments: [1, 100, 16_383, 16_384, 16_385, 40_000])
  func limitOfOne(size: Int) throws {
    let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 100) }
    let packed = try #require(gzip(content))
    #expect(try Self.gunzipped(packed, limit: size, several: false) == content)
    #expect(throws: CompressionError.tooLarge(limit: size - 1)) {
      try Self.gunzipped(packed, limit: size - 1, several: false)
    }
    #expect(throws: CompressionError.damaged) {
      try Self.gunzipped(Array(packed.dropLast()), limit: size, several: false)
    }
  }

  @Test("The size that a message claims is checked", arguments: [0, 1, 99, 101, 5_000, UInt32.max])
  func claimedSize(size: UInt32) throws {
    var packed = try #require(gzip([UInt8](repeating: 7, count: 100)))
    let end = packed.count - 4
    withUnsafeBytes(of: size.littleEndian) { packed.replaceSubrange(end..., with: $0) }
    #expect(throws: CompressionError.damaged) { try Self.gunzipped(packed, several: false) }
    #expect(throws: CompressionError.damaged) { try Self.gunzipped(packed, several: true) }
  }

  @Test("Every part of a member is damaged")
  func parts() throws {
    let packed = try #require(gzip((0..<100).map { UInt8($0) }))
    for count in 0..<packed.count {
      #expect(throws: CompressionError.damaged) {
        try Self.gunzipped(Array(packed.prefix(count)), limit: 100_000, several: false)
      }
    }
  }

  @Test("The limit is for all members together")
  func limit() throws {
    let member = try #require(gzip([UInt8](repeating: 7, count: 60)))
    #expect(throws: CompressionError.tooLarge(limit: 100)) {
      try Self.gunzipped(member + member, limit: 100, several: true)
    }
  }
}
