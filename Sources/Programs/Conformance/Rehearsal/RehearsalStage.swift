/// A change at Apple that a backend must survive.
package enum RehearsalStage: String, Hashable, Sendable, CaseIterable {
  /// Nothing changed: a document that is refused here is refused for another reason than a rotation.
  case unchanged
  /// Apple renews its leaf certificate.
  case leaf
  /// Apple renews the intermediate certificate, and with it the leaf.
  case intermediate
  /// The other of two roots, both of which the backend trusts.
  case root
  /// A leaf was revoked after it had signed documents.
  case revokedLeaf = "revoked-leaf"
  /// An intermediate was revoked after its leaf had signed documents.
  case revokedIntermediate = "revoked-intermediate"
  /// The backend's key for Apple's APIs is revoked, after it got another one with another id.
  case apiKey = "api-key"
  /// A later version of Apple's servers adds members.
  case fields
  /// A later version of Apple's servers has further values of enumerations.
  case types

  /// The event at the App Store, as a sentence.
  package var title: String {
    switch self {
    case .unchanged: "nothing is rotated"
    case .leaf: "the leaf certificate is replaced"
    case .intermediate: "the intermediate certificate is replaced"
    case .root: "the root certificate is replaced"
    case .revokedLeaf: "a leaf certificate is revoked"
    case .revokedIntermediate: "an intermediate certificate is revoked"
    case .apiKey: "the API key is revoked"
    case .fields: "documents have unknown members"
    case .types: "documents have unknown types"
    }
  }
}
