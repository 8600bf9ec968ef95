import Bytes
import Foundation
import JSON
import Platform
import SignedData
import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct CompressedBodyTests {
  @Test("Compression restores arbitrary bytes", arguments: UInt64(1)...30)
  func arbitraryBytes(seed: UInt64) throws {
    var random = Random(state: seed)
    for _ in 0..<3 { try expectRound(random.document(depth: 0)) }
  }

  @Test("Compression restores malformed and non-canonical Base64 unchanged")
  func unusual() throws {
    let long = String(repeating: "QUJD", count: 40)
    for text in [
      "", "e", "eyJ4NWMi", long + "=", long + "==", long + "A", long + "-+", long + "/_", "." + long + ".",
      // Nonzero trailing bits in the last character, which no encoder writes.
      String(repeating: "QUJD", count: 30) + "QR", "eyJ" + String(repeating: "\u{FFFD}", count: 99),
      String(repeating: "=", count: 120), String(repeating: "-", count: 121),
    ] { try expectRound(Array(text.utf8)) }
  }

  @Test("Each byte is in the alphabets or ends a run, wherever it is", arguments: UInt8.min...UInt8.max)
  func alphabets(byte: UInt8) {
    let isInAlphabet =
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "+/-_".utf8.contains(byte)
      }
    let letters = [UInt8](repeating: UInt8(ascii: "A"), count: 160)
    for position in [0, 1, 15, 16, 31, 32, 63, 64, 78] {
      var text = letters
      text[position] = byte
      let segments = BodySegment.segments(of: text[...])
      if case .encoded? = segments.first { #expect(isInAlphabet) } else { #expect(!isInAlphabet) }
    }
  }

  @Test("A notification is compressed to a twentieth, and its certificates are stored once")
  func notification() throws {
    let certificates = JSONValue.array([.string(Random(state: 9).base64(2_400))])
    let header = Base64.url.encodeUTF8(
      JSONValue.object(["alg": "ES256", "x5c": certificates]).serialized())
    func sign(_ payload: JSONObject, _ seed: UInt64) -> String {
      let signature = Base64.url.encodeUTF8(Random(state: seed).bytes(64))
      let segments = [header, Base64.url.encodeUTF8(payload.serialized()), signature]
      return segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    }
    let transaction: JSONObject = [
      "transactionId": "2000000123456789", "originalTransactionId": "2000000123456000",
      "bundleId": "com.example.ocean", "productId": "pro.monthly", "purchaseDate": 1_790_000_000_000,
      "signedDate": 1_790_000_000_100, "environment": "Production", "price": 4990, "currency": "USD",
    ]
    let payload: JSONObject = [
      "notificationType": "DID_RENEW", "notificationUUID": "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
      "data": ["signedTransactionInfo": .string(sign(transaction, 1))], "version": "2.0",
    ]
    let body = JSONValue.object(["signedPayload": .string(sign(payload, 2))]).serialized()
    let compressed = try expectRound(body)
    #expect(compressed.bytes.count < body.count / 20, "\(compressed.bytes.count) of \(body.count)")
    #expect(compressed.segments == [header])
  }

  @Test("The numbers of the format and the dictionary never change, because bodies are stored with them")
  func golden() throws {
    let script: [UInt8] = [
      8, 0, 0, 0, 0x61, 0x62,  // the text "ab"
      19, 0, 0, 0,  // Base64 with the alphabet of URLs of two segments
      12, 0, 0, 0, 0x3E, 0x3F, 0x3E,  // the text ">?>"
      6, 0, 0, 0,  // the shared segment 1
      9, 0, 0, 0,  // two incompressible bytes
      15, 0, 0, 0,  // Base64 of one segment
      12, 0, 0, 0, 0x3E, 0x3F, 0x3E,
    ]
    // A block that is not compressed has the same bytes in every version of zlib.
    var stored: [UInt8] = [36, 0, 0, 0, 41, 0, 0, 0, 1, 36, 0, 219, 255]
    stored += script
    stored += [0xFA, 0xFB]
    var body = Array("abPj8-YWJj".utf8)
    body += [0xFA, 0xFB]
    body += Array("Pj8+".utf8)
    #expect(try decompress(stored, [[], Array("abc".utf8)]) == body)
    #expect(BodyCompressor.Form.verbatim.rawValue == 0 && BodyCompressor.Form.compressed.rawValue == 1)
    #expect(
      Hex.encode(SHA256.hash(CompressionDictionary.first[...]))
        == "e53d439172ea819f260ddb60ab79134079ba2290528564e6eb18e7850942d851")
  }

  @Test(
    "Decompressing damaged bytes throws or returns other bytes, without a crash", arguments: UInt64(1)...10)
  func damaged(seed: UInt64) throws {
    var random = Random(state: seed)
    let body = random.document(depth: 0)
    let (compressed, segments) = try compress(body)
    for _ in 0..<5 where !compressed.isEmpty {
      var other = compressed
      other[Int(random.next() % UInt64(compressed.count))] ^= UInt8(1 << (random.next() % 8))
      if random.next() % 4 == 0 { other.removeLast() }
      _ = try? decompress(other, segments)
    }
  }

  @discardableResult
  private func expectRound(_ body: [UInt8]) throws -> (bytes: [UInt8], segments: [[UInt8]]) {
    let compressed = try compress(body)
    #expect(try decompress(compressed.bytes, compressed.segments) == body)
    return compressed
  }

  private func compress(_ body: [UInt8]) throws -> (bytes: [UInt8], segments: [[UInt8]]) {
    var segments: [[UInt8]] = []
    let deflater = try Deflater(dictionary: CompressionDictionary.first)
    let bytes = try CompressedBody.compress(body, with: deflater) { segment throws(StoreError) in
      let segment = Array(segment)
      if let known = segments.firstIndex(of: segment) { return Int64(known) }
      segments.append(segment)
      return Int64(segments.count - 1)
    }
    return (bytes, segments)
  }

  private func decompress(_ bytes: [UInt8], _ segments: [[UInt8]]) throws -> [UInt8] {
    try CompressedBody.decompress(bytes, dictionary: CompressionDictionary.first) {
      number throws(StoreError) in
      guard number < segments.count else { throw .corrupt("no such segment") }
      return segments[Int(number)]
    }
  }
}

/// Generates random documents from a seed.
private struct Random {
  private var numbers: SplitMix64

  init(state: UInt64) { numbers = SplitMix64(state: state) }

  mutating func next() -> UInt64 { numbers.next() }

  func bytes(_ count: Int) -> [UInt8] {
    var copy = self
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: copy.next()) }
  }

  func base64(_ count: Int) -> String {
    Base64.standard.encode(bytes(count))
  }

  /// Returns random bytes, text, and nested Base64 in either alphabet.
  mutating func document(depth: Int) -> [UInt8] {
    var document: [UInt8] = []
    for _ in 0..<1 + next() % 4 {
      let count = Int(next() % 300)
      switch next() % (depth < 4 ? 6 : 3) {
      case 0: document += bytes(count)
      case 1: document += Array("{\"x5c\":\"productId\".".utf8)
      case 2: document += Array(repeating: UInt8(ascii: "A"), count: count)
      case 3: document += Base64.standard.encodeUTF8(self.document(depth: depth + 1))
      case 4: document += Base64.url.encodeUTF8([UInt8(ascii: "{")] + self.document(depth: depth + 1))
      default: document += Base64.url.encodeUTF8(self.document(depth: depth + 1))
      }
      _ = next()
    }
    return document
  }
}
