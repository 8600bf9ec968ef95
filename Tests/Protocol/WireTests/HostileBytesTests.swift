import Testing
import Wire

@Suite struct HostileBytesTests {
  @Test(
    "Malformed bytes are rejected",
    arguments: [
      [0x0A], [0x0A, 5, 0x61], [0x08], [0x80], [0x0B], [0x0C], [0x0E], [0x00, 0x00],
      [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
      [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0x08, 1],
      [0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    #expect(throws: WireError.malformed(message: "entitled.v1.CheckRequest")) {
      try CheckRequest.decode(bytes)
    }
  }

  @Test("A truncated message is decoded or rejected and never crashes")
  func truncations() {
    let response = Entitlement.with {
      $0.explanation = "paid until tomorrow"
      $0.until = .init(millisecondsSince1970: 1_790_000_000_123)
      $0.advice = [.with { $0.offerIds = ["one", "two"] }]
    }
    let bytes = response.encodedBytes()
    for length in bytes.indices { _ = try? Entitlement.decode(Array(bytes[..<length])) }
    for index in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[index] ^= 1 << bit
        _ = try? Entitlement.decode(flipped)
      }
    }
  }

  @Test(
    "A string that is not UTF-8 is rejected with the name of its field",
    arguments: [
      [0xFF], [0xC0, 0x80], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE0, 0x80, 0xAF],
      [0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x80],
    ] as [[UInt8]])
  func invalidUTF8(text: [UInt8]) {
    #expect(throws: WireError.invalidUTF8(field: "customer_id")) {
      try CheckRequest.decode([0x12, UInt8(text.count)] + text)
    }
  }

  @Test("A string with a NUL is rejected at every nesting depth instead of being truncated")
  func embeddedNUL() {
    #expect(throws: WireError.embeddedNUL(field: "app")) { try CheckRequest.decode([0x0A, 2, 0x61, 0]) }
    // BatchCheckRequest.checks[0].app = "\0"
    #expect(throws: WireError.embeddedNUL(field: "checks.app")) {
      try BatchCheckRequest.decode([0x0A, 3, 0x0A, 1, 0])
    }
  }

  @Test("A small message that unfolds beyond the memory limit is rejected")
  func amplification() {
    let bytes = [UInt8](repeating: 0, count: 200_000).enumerated().map {
      $0.offset % 2 == 0 ? 0x0A : 0 as UInt8
    }
    #expect(throws: WireError.tooLarge(limit: 100_000)) {
      try BatchCheckRequest.decode(bytes, memoryLimit: 100_000)
    }
    #expect(throws: Never.self) { try BatchCheckRequest.decode(bytes) }
  }

  @Test("JSON that unfolds beyond the memory limit is rejected")
  func amplificationInJSON() {
    let checks = Array(repeating: #"{"app":"aaaaaaaaaaaaaaaa"}"#, count: 2000).joined(separator: ",")
    let text = Array("{\"checks\":[\(checks)]}".utf8)
    for limit in stride(from: 0, to: 150_000, by: 7777) {
      #expect(throws: WireError.tooLarge(limit: limit)) {
        try BatchCheckRequest(json: text, memoryLimit: limit)
      }
    }
    #expect(throws: Never.self) { try BatchCheckRequest(json: text) }
  }
}
