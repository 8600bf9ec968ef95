package import AppStore

/// A notification, version 2, of which every signature was found good: its own and those inside.
package struct VerifiedNotification: Sendable {
  package let notification: Verified<ResponseBodyV2DecodedPayload>
  package let transaction: Verified<JWSTransactionDecodedPayload>?
  package let renewalInfo: Verified<JWSRenewalInfoDecodedPayload>?
  package let appTransaction: Verified<AppTransactionPayload>?
}

/// Why a notification was refused: which of its documents, and what is wrong with it.
package struct NotificationRejection: Error, Hashable, Sendable, CustomStringConvertible {
  /// ``SignedDocumentKind/notification`` for the notification itself, else the kind of the one inside.
  package let document: SignedDocumentKind
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
  /// notification names: a genuine notification does not vouch for what it carries.
  package func verifyNotification(
    _ signedPayload: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(NotificationRejection) -> VerifiedNotification {
    let notification: Verified<ResponseBodyV2DecodedPayload> = try verifyPart(
      .notification, signedPayload, for: app, environments)
    let payload = notification.payload
    var inner: Set<Environment> = []
    if case .known(let environment) = payload.origin { inner = [environment] }
    let data = payload.data
    return VerifiedNotification(
      notification: notification,
      transaction: try verifyInner(.transaction, data?.signedTransactionInfo, for: app, inner),
      renewalInfo: try verifyInner(.renewalInfo, data?.signedRenewalInfo, for: app, inner),
      appTransaction: try verifyInner(
        .appTransaction, payload.appData?.signedAppTransactionInfo, for: app, inner))
  }

  private func verifyInner<Payload: SignedPayload>(
    _ kind: SignedDocumentKind, _ document: String?, for app: AppIdentity, _ environments: Set<Environment>
  ) throws(NotificationRejection) -> Verified<Payload>? {
    guard let document else { return nil }
    return try verifyPart(kind, document, for: app, environments)
  }

  private func verifyPart<Payload: SignedPayload>(
    _ kind: SignedDocumentKind, _ document: String, for app: AppIdentity, _ environments: Set<Environment>
  ) throws(NotificationRejection) -> Verified<Payload> {
    do {
      return try verify(document, for: app, environments: environments)
    } catch { throw NotificationRejection(document: kind, error: error) }
  }
}
