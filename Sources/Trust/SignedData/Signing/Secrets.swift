internal import Bytes
internal import Synchronization

/// The shared secret of an app, which authenticates version 1 notifications.
package struct SharedSecret: Sendable {
  private let bytes: [UInt8]

  /// `nil` if `text` is empty.
  package init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    bytes = Array(text.utf8)
  }

  /// Whether `text` is the secret, compared in constant time.
  package func matches(_ text: String) -> Bool { constantTimeEquals(Array(text.utf8), bytes) }

  /// The secret itself, to send it to Apple.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// The shared secrets of all apps, by app id. A reload replaces them.
package final class SharedSecrets: Sendable {
  private let secrets: Mutex<[String: SharedSecret]>

  /// Starts with `secrets`; apps without a secret are absent.
  package init(_ secrets: [String: SharedSecret]) { self.secrets = Mutex(secrets) }

  /// The secret of an app; `nil` if it has none.
  package subscript(appID: String) -> SharedSecret? { secrets.withLock { $0[appID] } }

  /// Puts other secrets in force.
  package func replace(with secrets: [String: SharedSecret]) { self.secrets.withLock { $0 = secrets } }
}

/// A random UUID that makes every signed text unique.
package struct Nonce: Hashable, Sendable, CustomStringConvertible {
  /// Lowercase with hyphens: Apple compares signed text byte by byte.
  package let description: String

  /// A UUID of version 4 (RFC 9562, section 5.4) from `generator`.
  package init(using generator: inout some RandomNumberGenerator) {
    let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let digits = Hex.encode(high) + Hex.encode(low)
    var text = ""
    for (position, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(position) { text.append("-") }
      text.append(digit)
    }
    description = text
  }

  /// Returns a nonce from the system's random number generator.
  package static func random() -> Nonce {
    var generator = SystemRandomNumberGenerator()
    return Nonce(using: &generator)
  }
}
