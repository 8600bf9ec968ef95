import Bytes
import Foundation
import Testing

@Suite struct Base64Tests {
  @Test(
    "Bytes survive encoding and decoding",
    arguments: [[], [0], [0, 0xFF], [1, 2, 3], [0xFB, 0xEF, 0xBE, 0xFF]] as [[UInt8]])
  func roundTrip(bytes: [UInt8]) {
    for variant in [Base64.standard, .url] {
      #expect(variant.decode(variant.encode(bytes)) == bytes)
      let text = variant.encodeUTF8(bytes, padded: false)
      var sink = [UInt8](repeating: 7, count: bytes.count)
      let isValid = text.withUnsafeBytes { text in
        sink.withUnsafeMutableBytes { variant.decode(text, into: $0) }
      }
      #expect(isValid && sink == bytes)
    }
    #expect(Base64.standard.encode(bytes) == Data(bytes).base64EncodedString())
  }

  @Test("Bytes of every length are encoded as Foundation does, with and without contiguous storage")
  func lengths() {
    for count in 0...50 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ count) }
      let text = Data(bytes).base64EncodedString()
      let digits = text.filter { $0 != "=" }
      let urlText = digits.replacing("+", with: "-").replacing("/", with: "_")
      for sequence in [AnySequence(bytes), AnySequence(bytes.lazy.map(\.self))] {
        #expect(Base64.standard.encode(sequence) == text)
        #expect(Base64.standard.encode(sequence, padded: false) == digits)
        #expect(Base64.url.encode(sequence) == urlText)
      }
      #expect(Base64.standard.encode(bytes) == text)
      #expect(Base64.url.encode(bytes[...]) == urlText)
    }
  }

  @Test(
    "base64url rejects padding, whitespace, stray bits and the standard alphabet",
    arguments: ["AA==", "AA ", "A", "AB", "A+AA", "A/AA", "AA\n", "AAAAA", "AAB"])
  func urlRefused(text: String) {
    #expect(Base64.url.decode(text) == nil)
    var sink = [UInt8](repeating: 0, count: text.utf8.count * 3 / 4)
    let isValid = Array(text.utf8).withUnsafeBytes { text in
      sink.withUnsafeMutableBytes { Base64.url.decode(text, into: $0) }
    }
    #expect(!isValid)
  }

  @Test(
    "Standard Base64 rejects missing padding, stray bits and the URL-safe alphabet",
    arguments: ["AA", "AA=", "AAA", "A===", "====", "A-AA", "AB==", "AA==AA=="])
  func standardRefused(text: String) {
    #expect(Base64.standard.decode(text) == nil)
  }

  @Test("Text with broken lines is decoded, and damaged text has a named fault")
  func faults() throws {
    let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 * 151 + 62) } + [0xFB, 0xEF, 0xBE, 0xFF]
    let text = Base64.standard.encode(bytes)
    func lines(_ separator: String) -> String {
      stride(from: 0, to: text.count, by: 64)
        .map { String(Array(text)[$0..<min($0 + 64, text.count)]) }.joined(separator: separator)
    }
    for wrapped in [text, " \(text)\r\n", lines("\n"), lines("\r\n"), lines("\n  "), lines(" ")] {
      #expect(try Base64.standard.decodeLines(Array(wrapped.utf8)[...]) == bytes)
    }
    #expect(text.contains("+"))
    let damaged: [(String, Base64Fault)] = [
      (text.map { $0 == "+" ? " " : String($0) }.joined(), .spaces),
      (Base64.url.encode(bytes + [1]), .otherAlphabet),
      (Base64.standard.encode(bytes + [1], padded: false), .missingPadding),
      (text + "=", .unexpectedPadding), (String(text.dropLast(3)), .truncated),
      ("AA*A", .character(position: 2)),
    ]
    for (text, fault) in damaged {
      #expect(throws: fault) { try Base64.standard.decodeLines(Array(text.utf8)[...]) }
    }
    #expect(Base64.url.fault(in: Array("A+/A".utf8)[...]) == .otherAlphabet)
    #expect(Base64.url.fault(in: Array("AA==".utf8)[...]) == .unexpectedPadding)
  }

  @Test(
    "Lenient decoding accepts missing padding and stray bits",
    arguments: [("AA==", [0]), ("AA", [0]), ("AAE=", [0, 1]), ("AB", [0]), ("", [])] as [(String, [UInt8])])
  func accepted(text: String, bytes: [UInt8]) { #expect(Base64.standard.decodeLeniently(text) == bytes) }

  @Test(
    "Lenient decoding rejects other characters and impossible lengths",
    arguments: ["A", "AAAAA", "AA=", "A===", "AA-_", "AA ="])
  func rejected(text: String) { #expect(Base64.standard.decodeLeniently(text) == nil) }
}

@Suite struct HexTests {
  @Test("Bytes survive encoding and decoding, whatever the case of the digits")
  func roundTrip() {
    let bytes = (0...255).map { UInt8($0) }
    let text = Hex.encode(bytes)
    #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff") && text.count == 512)
    #expect(Hex.decode(text) == bytes)
    #expect(Hex.decode(text.uppercased()) == bytes)
  }

  @Test("A number has 16 digits, highest first")
  func number() {
    #expect(Hex.encode(0) == "0000000000000000")
    #expect(Hex.encode(0xAB_0000_0000_0001) == "00ab000000000001")
  }

  @Test("Anything but pairs of digits is rejected", arguments: ["a", "0g", "+1", " 01", "0x01"])
  func invalid(text: String) { #expect(Hex.decode(text) == nil) }

  @Test("A UUID has five groups of digits of either case, whatever its version")
  func uuid() {
    for text in ["7e3fb204-2a5f-44b8-9f6a-1d2c3b4a5968", "FFFFFFFF-0000-0000-0000-abcdefABCDEF"] {
      #expect(text.isUUID)
    }
    let others = [
      "", "7e3fb2042a5f44b89f6a1d2c3b4a5968", "7e3fb204-2a5f-44b8-9f6a-1d2c3b4a596",
      "7e3fb204-2a5f-44b8-9f6a-1d2c3b4a5968-", "7e3fb204-2a5f-44b8-9f6a-1d2c3b4a596g",
      "{7e3fb204-2a5f-44b8-9f6a-1d2c3b4a5968}", "7e3fb204-2a5f-44b8-9f6a-1d2c3b4a59é",
    ]
    for text in others { #expect(!text.isUUID) }
  }
}

@Suite struct VarintTests {
  @Test(
    "Integers survive encoding and decoding",
    arguments: [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 32, 1 << 63, .max] as [UInt64])
  func roundTrip(value: UInt64) {
    var bytes: [UInt8] = [7]
    Varint.append(value, to: &bytes)
    var written = [UInt8](repeating: 0, count: Varint.maxBytes)
    let count = written.withUnsafeMutableBufferPointer { room in
      guard let start = room.baseAddress else { return 0 }
      var position = start
      Varint.write(value, at: &position)
      return position - start
    }
    #expect(bytes == [7] + written[..<count])
    var offset = 1
    #expect(Varint.read(bytes.span, at: &offset) == value)
    #expect(offset == bytes.count)
    offset = 1
    #expect(bytes.withUnsafeBytes { Varint.read($0, at: &offset) } == value)
    #expect(offset == bytes.count)
  }

  @Test(
    "Truncated integers and those of more than ten bytes are rejected",
    arguments: [[], [0x80], [0xFF, 0xFF], [UInt8](repeating: 0x80, count: 10) + [1]] as [[UInt8]])
  func invalid(bytes: [UInt8]) {
    var offset = 0
    #expect(Varint.read(bytes.span, at: &offset) == nil)
  }

  @Test("Zigzag maps small integers of either sign to small ones")
  func zigzag() {
    #expect([0, -1, 1, -2, 2].map(Varint.zigzag) == [0, 1, 2, 3, 4])
    for value in [0, 1, -1, .min, .max] as [Int64] {
      #expect(Varint.unzigzag(Varint.zigzag(value)) == value)
    }
  }
}

@Suite struct ByteComparisonTests {
  @Test("A difference in any byte is seen at every length", arguments: 1...77)
  func difference(length: Int) {
    let bytes = (0..<length).map { UInt8($0) }
    #expect(constantTimeEquals(bytes, Array(bytes)) && bytes[...].hasSameBytes(as: Array(bytes)[...]))
    #expect(!constantTimeEquals(bytes, bytes.dropLast()) && !bytes[...].hasSameBytes(as: bytes.dropLast()))
    let unnoticed = bytes.indices.filter { position in
      var other = bytes
      other[position] ^= 0x10
      return constantTimeEquals(bytes, other) || bytes[...].hasSameBytes(as: other[...])
    }
    #expect(unnoticed.isEmpty)
  }
}

@Suite struct WideEncodingTests {
  @Test("UTF-16 is detected with and without a byte order mark")
  func detection() {
    let cases: [([UInt8], WideEncoding?)] = [
      ([0xFF, 0xFE, 0x61, 0x00], .utf16), ([0xFE, 0xFF, 0x00, 0x61], .utf16),
      ([0x61, 0x00, 0x2C, 0x00], .utf16LittleEndian), ([0x00, 0x61, 0x00, 0x2C], .utf16BigEndian),
      ([0xEF, 0xBB, 0xBF, 0x61], nil), ([0x61, 0x2C], nil), ([0x61], nil), ([0x00, 0x00], nil), ([], nil),
    ]
    for (bytes, encoding) in cases { #expect(WideEncoding(beginningWith: bytes) == encoding) }
    #expect(WideEncoding.utf16BigEndian.remedy.hasSuffix("iconv -f UTF-16BE -t UTF-8"))
  }
}
