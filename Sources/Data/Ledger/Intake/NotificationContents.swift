package import AppStore
internal import Entitlements
internal import JSON
internal import SignedData
internal import Store

/// The decoded payload of a version 2 notification with the facts of its documents. A class, because it is
/// large and passed through several functions.
final class NotificationContents: Sendable {
  let payload: ResponseBodyV2DecodedPayload
  let transaction: TransactionFact?
  let renewal: RenewalFact?
  let appTransaction: AppTransactionFact?

  /// The contents of a notification that was verified together with its documents.
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
    }?.reported(by: notification.notification.payload)
  }

  /// The contents of a stored body that was verified on arrival; `nil` if this version cannot decode it.
  init?(body: [UInt8]) {
    guard case .signed(let text) = NotificationBody(body), let jws = try? UnverifiedJWS(text),
      let payload = try? ResponseBodyV2DecodedPayload(json: jws.payload)
    else { return nil }
    func inner(_ text: String?) -> UnverifiedJWS? { text.flatMap { try? UnverifiedJWS($0) } }
    self.payload = payload
    transaction = inner(payload.signedTransactionInfo).flatMap {
      try? TransactionFact(JWSTransactionDecodedPayload(json: $0.payload))
    }
    renewal = inner(payload.signedRenewalInfo).flatMap {
      try? RenewalFact(JWSRenewalInfoDecodedPayload(json: $0.payload))
    }
    appTransaction = inner(payload.signedAppTransactionInfo).flatMap {
      try? AppTransactionFact(AppTransactionPayload(json: $0.payload))
    }?.reported(by: payload)
  }

  /// The record of the notification in `state`.
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

  /// The rows that the write of the notification reads.
  func expectedReads(of appID: String, in environment: Environment) -> ExpectedReads {
    var expected = ExpectedReads()
    if let uuid = payload.notificationUUID, !uuid.isEmpty {
      expected.notifications = [ScopedID(uuid, of: appID, in: environment)]
    }
    func line(_ id: String) -> LineKey { LineKey(appID: appID, environment: environment, lineID: id) }
    if let transaction { expected.add(transaction, of: line(transaction.originalTransactionID)) }
    if let renewal { expected.lines.insert(line(renewal.originalTransactionID)) }
    if let appTransaction { expected.lines.insert(line(appTransaction.lineID)) }
    return expected
  }

  /// Whether this version supports the notification's type and its part.
  var isSupported: Bool {
    switch payload.notificationType {
    case nil, .unrecognized: false
    default: payload.hasKnownPart
    }
  }
}

extension AppTransactionFact {
  /// The fact with what the notification around it states: `RESCIND_CONSENT` withdraws the consent.
  fileprivate func reported(by notification: ResponseBodyV2DecodedPayload) -> AppTransactionFact {
    guard case .rescindConsent? = notification.notificationType else { return self }
    var fact = self
    fact.consentRescindedAt = notification.signedDate ?? signedDate
    return fact
  }
}

/// A notification's body, parsed as far as needed to determine its version.
package enum NotificationBody: Sendable {
  /// Version 2: the signed payload, not yet verified.
  case signed(String)
  /// Version 1, which is not signed.
  case unsigned(ResponseBodyV1)
  /// Neither; `reason` is a code such as `MALFORMED_JSON`.
  case unreadable(reason: String, problem: String)

  /// The maximum size of a body in bytes: ten times the largest that Apple sends.
  package static let maxSize = 1 << 20

  /// Parses a body (App Store Server Notifications, responseBodyV2 and responseBodyV1).
  package init(_ body: [UInt8]) {
    guard body.count <= Self.maxSize else {
      self = .unreadable(reason: "TOO_LARGE", problem: "the body has more than \(Self.maxSize) bytes")
      return
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: body, limits: .ofDocuments)
    } catch {
      self = .unreadable(reason: "MALFORMED_JSON", problem: "the body is not JSON: \(error)")
      return
    }
    guard case .object(let object) = value else {
      self = .unreadable(reason: "NOT_A_NOTIFICATION", problem: "the body is not a JSON object")
      return
    }
    self = Self.read(object)
  }

  /// Distinguishes the versions: only version 2 has `signedPayload`, only version 1 has `notification_type`.
  private static func read(_ object: JSONObject) -> NotificationBody {
    if let member = object["signedPayload"] {
      guard case .string(let payload) = member else {
        return .unreadable(reason: "MALFORMED_FIELD", problem: "signedPayload is not a string")
      }
      return .signed(payload)
    }
    guard object["notification_type"] != nil else {
      return .unreadable(
        reason: "NOT_A_NOTIFICATION", problem: "the body has neither signedPayload nor notification_type")
    }
    do {
      return .unsigned(try ResponseBodyV1(json: object))
    } catch {
      return .unreadable(reason: "MALFORMED_FIELD", problem: error.description)
    }
  }
}
