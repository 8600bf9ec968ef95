// gRPC sends binary metadata as base64 without padding and accepts it with (gRPC over HTTP/2,
// "Custom-Metadata").

private let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

func base64Encoded(_ bytes: [UInt8]) -> String {
  var text: [UInt8] = []
  text.reserveCapacity((bytes.count * 4 + 2) / 3)
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[start..<min(start + 3, bytes.count)]
    var bits: UInt32 = 0
    for (index, byte) in group.enumerated() { bits |= UInt32(byte) << (16 - 8 * index) }
    for index in 0...group.count { text.append(alphabet[Int(bits >> (18 - 6 * index)) & 63]) }
  }
  return String(decoding: text, as: UTF8.self)
}

func base64Decoded(_ text: String) -> [UInt8]? {
  var bytes: [UInt8] = []
  var bits: UInt32 = 0
  var count = 0
  let unpadded = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
  for character in unpadded {
    guard let value = alphabet.firstIndex(of: character) else { return nil }
    bits = bits << 6 | UInt32(value)
    count += 1
    if count % 4 == 0 {
      bytes += [
        UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8),
        UInt8(truncatingIfNeeded: bits),
      ]
      bits = 0
    }
  }
  switch count % 4 {
  case 0: return bytes
  case 2: return bytes + [UInt8(truncatingIfNeeded: bits >> 4)]
  case 3: return bytes + [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
  default: return nil
  }
}
