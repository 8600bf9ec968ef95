package import AppStore

/// What the verifier asks of an app receipt. How it is encoded inside is for the conforming type to know.
package protocol SignedReceipt: Sendable {
  /// Reads the content of the signed message.
  ///
  /// Throws ``VerificationError/notAReceipt(_:)`` or ``VerificationError/tooMany(_:limit:)``.
  init(signedContent: [UInt8]) throws(VerificationError)

  /// When Apple made the receipt.
  var creationDate: Instant? { get }
  /// Where it belongs.
  var origin: SignedPayloadOrigin { get }
  /// The app it is for.
  var bundleID: String? { get }
}
