internal import Bytes
internal import SignedData

/// What the operator shares with a receiver (Standard Webhooks, "Signature scheme"): 24 to 64 random bytes,
/// written `whsec_` and base64. Never to be logged or shown.
package struct WebhookSecret: Hashable, Sendable {
  private static let prefix = "whsec_"
  private static let sizes = 24...64

  private let key: [UInt8]

  /// Reads a secret; `nil` if it is none.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix),
      let key = Base64.standard.decode(Array(text.utf8)[Self.prefix.utf8.count...]),
      Self.sizes.contains(key.count)
    else { return nil }
    self.key = key
  }

  /// A secret of those bytes.
  package init(key: [UInt8]) { self.key = key }

  /// `v1,` and base64 of the HMAC-SHA256 over `id.timestamp.body`; `timestamp` in seconds since 1970.
  func signature(
    id: String, timestamp: Int64, body: [UInt8]
  ) throws(CryptographyError) -> String {
    let code = try HMACSHA256.code(of: Array("\(id).\(timestamp).".utf8) + body, key: key)
    return "v1," + Base64.standard.encode(code)
  }
}
