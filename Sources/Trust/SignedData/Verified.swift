package import AppStore

/// A payload that passed every check. Only this module can make one, so a function that takes
/// `Verified<Payload>` cannot be handed anything else.
package struct Verified<Payload: Sendable>: Sendable {
  package let payload: Payload
  /// Who signed it; `nil` for data of Xcode and local testing, which nobody that counts signed.
  package let signer: Signer?

  init(_ payload: Payload, signer: Signer?) {
    self.payload = payload
    self.signer = signer
  }
}

/// Whose signature a document carries.
package struct Signer: Hashable, Sendable {
  /// The subject of the certificate that signed.
  package let subject: String
  /// The subject of the root it was traced to.
  package let anchor: String
  /// When all certificates of the chain were valid at once.
  package let validity: ClosedRange<Instant>
}
