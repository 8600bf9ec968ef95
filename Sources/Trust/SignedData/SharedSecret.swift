internal import Bytes

/// The secret that an operator shares with Apple: what notifications of version 1 are known by.
package struct SharedSecret: Sendable {
  private let bytes: [UInt8]

  /// A secret; never empty.
  package init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    bytes = Array(text.utf8)
  }

  /// Whether `text` is the secret, compared in constant time.
  package func matches(_ text: String) -> Bool { constantTimeEquals(Array(text.utf8), bytes) }
}
