internal import AppStore
internal import Entitlements
internal import ReceiptMigration
internal import SignedData

/// Whether a document verifies and is for the app, or the first reason why not.
struct InspectionResult: Sendable {
  /// Whether all checks succeeded. The owner of the purchase and online checks are not among them.
  let isVerified: Bool
  /// A stable code, such as `BAD_SIGNATURE`.
  let reason: String
  /// An explanation for people.
  let explanation: String

  private init(isVerified: Bool = false, reason: String, explanation: String) {
    self.isVerified = isVerified
    self.reason = reason
    self.explanation = explanation
  }

  /// All checks succeeded. Without a signer, the app accepts documents of Xcode and local testing.
  static func verified(by signer: Signer?) -> InspectionResult {
    let explanation =
      if let signer {
        "Signed by \(signer.subject) under \(signer.anchor), a trusted root."
      } else {
        "No trust anchor signed it; the configuration of this app accepts data of Xcode and local testing."
      }
    return InspectionResult(isVerified: true, reason: "VERIFIED", explanation: explanation)
  }

  /// A document whose signature, chain or app is not accepted.
  init(_ error: VerificationError) {
    self.init(reason: error.reason, explanation: error.description)
  }

  /// Bytes that are no document of Apple's.
  init(_ error: UnrecognizedDocument) {
    self.init(reason: error.reason, explanation: error.description)
  }

  /// A verified document whose contents do not suffice for a fact.
  init(_ error: FactError) {
    self.init(reason: error.reason, explanation: error.description)
  }

  /// A verified receipt that is rejected when it is submitted: see ``ReceiptRejection``.
  init(_ rejection: ReceiptRejection) {
    self.init(reason: rejection.reason, explanation: rejection.description)
  }

  /// A JWS whose payload has no kind that Apple signs.
  static let unknownPayload = InspectionResult(
    reason: "UNKNOWN_DOCUMENT", explanation: "the document is a JWS, but of no kind that Apple signs")

  /// A version 1 notification for another app or environment, or one that only Apple can confirm. It is never verified.
  init(_ body: ResponseBodyV1, for app: AppDefinition) {
    if let bundle = body.bid, bundle != app.identity.bundleID {
      self.init(.wrongBundle(bundle.debugDescription))
    } else if let environment = body.environment, !app.environments.contains(environment) {
      self.init(.wrongEnvironment(environment.rawValue))
    } else {
      self.init(
        reason: "NOT_SIGNED",
        explanation: "notifications of version 1 are not signed; only asking Apple can confirm this one")
    }
  }
}
