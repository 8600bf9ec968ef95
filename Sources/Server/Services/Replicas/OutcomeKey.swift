internal import SignedData

/// The key with which the leader encrypts one outcome for the replica that waits for it.
///
/// The context of the entry contains the key and is removed when the outcome is stored. From then on only the replica has
/// the key, in its memory. The inbox keeps outcomes for an hour; without keys they identify no erased customer.
struct OutcomeKey: Hashable, Sendable {
  /// The first byte of an encrypted outcome. JSON does not begin with it.
  private static let mark: UInt8 = 1

  /// 32 bytes, of AES-256.
  let bytes: [UInt8]

  /// - Returns: `nil` for bytes that are no key.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == AES256GCM.keyByteCount else { return nil }
    self.bytes = bytes
  }

  /// Creates a random key.
  init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<AES256GCM.keyByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// Returns the outcome as it is stored.
  func seal(_ outcome: ForwardedOutcome) -> [UInt8] {
    [Self.mark] + AES256GCM.seal(outcome.encoded, key: bytes)
  }

  /// Returns a stored outcome; that of a leader that cannot read the context of its entry is not encrypted.
  ///
  /// - Returns: `nil` for bytes that are no outcome for this key.
  func open(_ stored: [UInt8]) -> ForwardedOutcome? {
    guard stored.first == Self.mark else { return ForwardedOutcome(decoding: stored) }
    return AES256GCM.open(stored.dropFirst(), key: bytes).flatMap { ForwardedOutcome(decoding: $0) }
  }
}
