internal import Bytes
internal import SignedData

/// The hash of a bearer token; the service never stores the token.
///
/// A token has 256 random bits, so its plain SHA-256 reveals nothing. A slow hash is for passwords that
/// people choose.
package struct TokenHash: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  private static let prefix = "sha256:"

  /// Reads `sha256:` and 64 hexadecimal digits in upper or lower case; `nil` for any other text.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    guard let bytes = Hex.decode(text.dropFirst(Self.prefix.count)), bytes.count == SHA256.byteCount else {
      return nil
    }
    self.bytes = bytes
  }

  /// Hashes a received token.
  package init(of token: some Collection<UInt8>) {
    bytes = SHA256.hash(Array(token)[...])
  }

  /// Whether two hashes are equal, compared in constant time.
  package static func == (left: TokenHash, right: TokenHash) -> Bool {
    constantTimeEquals(left.bytes, right.bytes)
  }

  /// The form that `init(_:)` reads and the configuration has: `sha256:` and the digits in lower case.
  package var description: String {
    Self.prefix + Hex.encode(bytes)
  }

  /// Returns a new random token. It starts with `ent_`, so that people and scanners recognize a leaked one.
  package static func newToken(using generator: inout some RandomNumberGenerator) -> String {
    let bytes = (0..<SHA256.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return "ent_" + Base64.url.encode(bytes)
  }
}
