package import AppStore
internal import JSON

/// A version 2 notification whose signature and inner signatures are verified.
package struct VerifiedNotification: Sendable {
  /// The notification itself.
  package let notification: Verified<ResponseBodyV2DecodedPayload>
  /// `signedTransactionInfo`; `nil` if the notification has none.
  package let transaction: Verified<JWSTransactionDecodedPayload>?
  /// `signedRenewalInfo`; `nil` if the notification has none.
  package let renewalInfo: Verified<JWSRenewalInfoDecodedPayload>?
  /// `signedAppTransactionInfo`; `nil` if the notification has none.
  package let appTransaction: Verified<AppTransactionPayload>?
}

/// The reason a notification is rejected, and the document at fault.
package struct NotificationRejection: Error, Hashable, Sendable, CustomStringConvertible {
  /// ``SignedDocumentKind/notification`` for the notification itself; otherwise the kind of the document inside.
  package let document: SignedDocumentKind
  /// The first check that it failed.
  package let error: VerificationError

  package var description: String {
    switch document {
    case .notification: error.description
    case .transaction: "in its signedTransactionInfo, \(error)"
    case .renewalInfo: "in its signedRenewalInfo, \(error)"
    case .appTransaction: "in its signedAppTransactionInfo, \(error)"
    case .retentionMessageRequest: "in its retention message request, \(error)"
    }
  }
}

extension SignedDataVerifier {
  /// Verifies the signed payload of a notification, version 2, and every document inside it.
  ///
  /// The documents inside must be signed themselves, be for the same app, and of the environment that the
  /// notification names: the notification's signature does not cover their authenticity.
  ///
  /// `hasKnownSignatures`: the installation has verified the signatures of these bytes before. Only the calculation of
  /// signatures of known signers is left out then; every other check is made.
  ///
  /// - Throws: the first check that fails, with the document that it is about: the notification itself, then the
  ///   transaction, the renewal info and the app transaction inside it.
  package func verifyNotification(
    _ signedPayload: String, for app: AppIdentity, environments: Set<Environment>,
    hasKnownSignatures: Bool = false
  ) throws(NotificationRejection) -> VerifiedNotification {
    let notification: Verified<ResponseBodyV2DecodedPayload> = try verifyPart(
      .notification, signedPayload, for: app, environments, hasKnownSignatures)
    let payload = notification.payload
    var inner: Set<Environment> = []
    if case .known(let environment) = payload.origin { inner = [environment] }
    return VerifiedNotification(
      notification: notification,
      transaction: try verifyInner(
        .transaction, payload.signedTransactionInfo, for: app, inner, hasKnownSignatures),
      renewalInfo: try verifyInner(
        .renewalInfo, payload.signedRenewalInfo, for: app, inner, hasKnownSignatures),
      appTransaction: try verifyInner(
        .appTransaction, payload.signedAppTransactionInfo, for: app, inner, hasKnownSignatures))
  }

  private func verifyInner<Payload: SignedPayload>(
    _ kind: SignedDocumentKind, _ document: String?, for app: AppIdentity, _ environments: Set<Environment>,
    _ hasKnownSignature: Bool
  ) throws(NotificationRejection) -> Verified<Payload>? {
    guard let document else { return nil }
    return try verifyPart(kind, document, for: app, environments, hasKnownSignature)
  }

  private func verifyPart<Payload: SignedPayload>(
    _ kind: SignedDocumentKind, _ document: String, for app: AppIdentity, _ environments: Set<Environment>,
    _ hasKnownSignature: Bool
  ) throws(NotificationRejection) -> Verified<Payload> {
    do {
      return try verify(
        document, for: app, environments: environments, hasKnownSignature: hasKnownSignature)
    } catch { throw NotificationRejection(document: kind, error: error) }
  }
}

// A notification names its environment and app in the one part that its type requires.
extension ResponseBodyV2DecodedPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("signedDate", signedDate) }

  package var origin: SignedPayloadOrigin {
    if let data { return origin(data.environment, in: data.json, "data") }
    if let summary { return origin(summary.environment, in: summary.json, "summary") }
    if let appData { return origin(appData.environment, in: appData.json, "appData") }
    if let unclaimInfo { return origin(unclaimInfo.environment, in: unclaimInfo.json, "unclaimInfo") }
    if let externalPurchaseToken {
      // Apple encodes the environment only in the token's id.
      return externalPurchaseToken.environment.map(SignedPayloadOrigin.known)
        ?? .missing(member: "externalPurchaseToken.externalPurchaseId")
    }
    guard let part = unknownPart else { return isOfUnknownType ? .unnamed : .missing(member: "data") }
    return origin(
      part.json["environment"]?.stringValue.flatMap(Environment.init), in: part.json, part.name)
  }

  package var app: SignedPayloadApp {
    if let data { return .bundleAndNumber(data.bundleId, data.appAppleId) }
    if let summary { return .bundleAndNumber(summary.bundleId, summary.appAppleId) }
    if let appData { return .bundleAndNumber(appData.bundleId, appData.appAppleId) }
    if let unclaimInfo { return .bundleAndNumber(unclaimInfo.bundleId, unclaimInfo.appAppleId) }
    if let externalPurchaseToken {
      return .bundleAndNumber(externalPurchaseToken.bundleId, externalPurchaseToken.appAppleId)
    }
    guard let part = unknownPart else { return .unnamed }
    return .bundleAndNumber(part.json["bundleId"]?.stringValue, part.json["appAppleId"]?.int64Value)
  }

  private func origin(
    _ environment: Environment?, in part: JSONObject, _ name: String
  ) -> SignedPayloadOrigin {
    SignedPayloadOrigin(environment, in: part, "environment", path: "\(name).environment")
  }

  /// Whether the type is unknown to this version. Documents of other kinds have no type.
  private var isOfUnknownType: Bool {
    if case .unrecognized? = notificationType { true } else { false }
  }
}
