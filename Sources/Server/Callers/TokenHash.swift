package import SignedData

/// The hash of a bearer token: all that the service keeps of one.
///
/// A token has 256 bits of chance, so that its plain SHA-256 tells nobody anything; a slow hash is for
/// passwords that people choose.
package struct TokenHash: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  private static let prefix = "sha256:"

  /// Reads `sha256:` and 64 hexadecimal digits.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    let digits = Array(text.dropFirst(Self.prefix.count).utf8)
    guard digits.count == 2 * SHA256.byteCount else { return nil }
    var bytes: [UInt8] = []
    for position in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16)
      else {
        return nil
      }
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  /// The hash of a token as it comes in.
  package init(of token: some Collection<UInt8>) throws(CryptographyError) {
    bytes = try SHA256.hash(Array(token)[...])
  }

  /// Whether the two are the same; takes as long if they are not.
  package func isSame(as other: TokenHash) -> Bool {
    var difference: UInt8 = 0
    for (mine, theirs) in zip(bytes, other.bytes) { difference |= mine ^ theirs }
    return difference == 0
  }

  package var description: String {
    Self.prefix + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// A new token, which nobody can guess. It begins with `ent_`, so that people and scanners know a leaked one.
  package static func newToken(using generator: inout some RandomNumberGenerator) -> String {
    let bytes = (0..<SHA256.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return "ent_" + String(decoding: Base64.url.encode(bytes), as: UTF8.self)
  }
}
