internal import AppStore
internal import Entitlements
internal import SignedData
package import Store

/// What a notification of version 2 says, and what the documents inside it say. An object, because it is large and is
/// handed on from one function to the next.
final class NotificationContents: Sendable {
  let payload: ResponseBodyV2DecodedPayload
  let transaction: TransactionFact?
  let renewal: RenewalFact?
  let appTransaction: AppTransactionFact?

  /// The contents of a notification that was verified together with all inside.
  init(_ notification: VerifiedNotification) throws(FactError) {
    payload = notification.notification.payload
    transaction = try notification.transaction.map { verified throws(FactError) in
      try TransactionFact(verified.payload)
    }
    renewal = try notification.renewalInfo.map { verified throws(FactError) in
      try RenewalFact(verified.payload)
    }
    appTransaction = try notification.appTransaction.map { verified throws(FactError) in
      try AppTransactionFact(verified.payload)
    }
  }

  /// The contents of a body that was verified when it came; `nil` if this version cannot read it.
  init?(body: [UInt8]) {
    guard case .signed(let text) = NotificationBody(body), let jws = try? UnverifiedJWS(text),
      let payload = try? ResponseBodyV2DecodedPayload(json: jws.payload)
    else { return nil }
    func inner(_ text: String?) -> UnverifiedJWS? { text.flatMap { try? UnverifiedJWS($0) } }
    self.payload = payload
    transaction = inner(payload.data?.signedTransactionInfo).flatMap {
      try? TransactionFact(JWSTransactionDecodedPayload(json: $0.payload))
    }
    renewal = inner(payload.data?.signedRenewalInfo).flatMap {
      try? RenewalFact(JWSRenewalInfoDecodedPayload(json: $0.payload))
    }
    appTransaction = inner(payload.appData?.signedAppTransactionInfo).flatMap {
      try? AppTransactionFact(AppTransactionPayload(json: $0.payload))
    }
  }

  /// What the documents inside say, each as if it had come by itself.
  var testimonies: [DecodedEvidence] {
    [
      transaction.map(DecodedEvidence.transaction), renewal.map(DecodedEvidence.renewal),
      appTransaction.map(DecodedEvidence.appTransaction),
    ].compactMap(\.self)
  }

  /// What is remembered of it, but for what became of it.
  func record(of evidence: StoredEvidence, state: NotificationState) -> NotificationRecord {
    NotificationRecord(
      evidenceID: evidence.id, appID: evidence.evidence.appID, environment: evidence.evidence.environment,
      version: 2, uuid: payload.notificationUUID ?? "", type: payload.notificationType?.rawValue ?? "",
      subtype: payload.subtype?.rawValue ?? "", state: state, meaning: payload.meaning,
      signedDate: payload.signedDate, receivedAt: evidence.evidence.receivedAt,
      originalTransactionID: transaction?.originalTransactionID ?? renewal?.originalTransactionID ?? "",
      transactionID: transaction?.transactionID ?? "",
      productID: transaction?.productID ?? renewal?.productID ?? "")
  }

  /// Whether this version knows what such a notification is about.
  var isUnderstood: Bool {
    switch payload.notificationType {
    case nil, .unrecognized: false
    default: true
    }
  }
}

extension DecodedEvidence {
  /// The line that it is about, of the same app and environment as `other`; `nil` if it is about none.
  func line(of other: LineKey) -> LineKey? {
    let number: String
    switch self {
    case .transaction(let fact): number = fact.originalTransactionID
    case .renewal(let fact): number = fact.originalTransactionID
    case .appTransaction(let fact): number = fact.lineID
    case .command, .notification, .receipt, .nothing: return nil
    }
    return LineKey(appID: other.appID, environment: other.environment, originalTransactionID: number)
  }
}

extension Evidence.Kind {
  /// The body of a notification of Apple's, version 2.
  package static let notificationV2 = Evidence.Kind(rawValue: "NOTIFICATION_V2")
  /// The body of a notification of Apple's, version 1.
  package static let notificationV1 = Evidence.Kind(rawValue: "NOTIFICATION_V1")

  /// Whether it is a notification's body.
  var isNotification: Bool { self == .notificationV2 || self == .notificationV1 }
}

extension Evidence.Source {
  /// Apple posted it to the edge.
  package static let notification = Evidence.Source(rawValue: "NOTIFICATION")
  /// A caller of the service passed it on.
  package static let relay = Evidence.Source(rawValue: "RELAY")
  /// Apple answered with it when asked.
  package static let appStoreServerAPI = Evidence.Source(rawValue: "APP_STORE_SERVER_API")
}
