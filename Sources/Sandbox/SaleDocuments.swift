internal import AppStore
internal import JSON
internal import SignedData

/// The documents in which Apple speaks of a sale.
extension Sale {
  /// A document of the kind; `nil` for one that only a subscription has.
  func document(
    _ kind: SandboxDocumentKind, by authority: SandboxAuthority
  ) throws(CryptographyError) -> String? {
    let signer = authority.signer
    return switch kind {
    case .transaction: try signer.sign(payload: transaction)
    case .renewalInfo: try signedRenewalInfo(signer)
    case .appTransaction: try signer.sign(payload: appTransaction)
    case .notification: try signer.sign(payload: notification(signer))
    case .retentionMessageRequest:
      if isSubscription { try signer.sign(payload: retentionMessageRequest) } else { nil }
    case .appReceipt: try appReceipt(authority.receiptSigner)
    case .transactionReceipt: try transactionReceipt(authority.receiptSigner)
    case .notificationV1: try notificationV1(authority.receiptSigner)
    }
  }

  /// The signed renewal info of a subscription; `nil` for everything else.
  func signedRenewalInfo(_ signer: JWSSigner) throws(CryptographyError) -> String? {
    guard let renewalInfo else { return nil }
    return try signer.sign(payload: renewalInfo)
  }

  /// The payload of the signed app transaction: the account got the app when it first bought something.
  private var appTransaction: JSONObject {
    object([
      ("receiptType", .string(Environment.sandbox.rawValue)),
      ("appTransactionId", .string(appTransactionId)),
      ("bundleId", .string(app.identity.bundleID)),
      ("applicationVersion", "1.0"),
      ("receiptCreationDate", date(signedDate)),
      ("originalPurchaseDate", date(line.originalPurchaseDate)),
      // In Apple's sandbox every app was first bought in version 1.0.
      ("originalApplicationVersion", "1.0"),
      ("originalPlatform", .string(PurchasePlatform.iOS.rawValue)),
    ])
  }

  /// The payload of the notification about the sale, with its signed transaction and renewal info inside.
  private func notification(_ signer: JWSSigner) throws(CryptographyError) -> JSONObject {
    let isFirst = line.originalTransactionId == transactionId
    let type: NotificationTypeV2 = isSubscription ? .subscribed : .oneTimeCharge
    let subtype: NotificationSubtype? = isSubscription ? (isFirst ? .initialBuy : .resubscribe) : nil
    let status: SubscriptionStatus? = isSubscription ? .active : nil
    let data = object([
      ("bundleId", .string(app.identity.bundleID)),
      ("bundleVersion", "1.0"),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("signedTransactionInfo", .string(try signer.sign(payload: transaction))),
      ("signedRenewalInfo", try signedRenewalInfo(signer).map(JSONValue.string)),
      ("status", status.map { .number(JSONNumber($0.rawValue)) }),
    ])
    return object([
      ("notificationType", .string(type.rawValue)),
      ("subtype", subtype.map { .string($0.rawValue) }),
      ("notificationUUID", .string(randomUUID())),
      ("data", .object(data)),
      ("version", "2.0"),
      ("signedDate", date(signedDate)),
    ])
  }

  /// The payload of the question what to show the customer, should they be about to cancel.
  private var retentionMessageRequest: JSONObject {
    object([
      ("originalTransactionId", .string(line.originalTransactionId)),
      ("appAppleId", .number(JSONNumber(app.identity.appAppleID ?? 0))),
      ("productId", .string(product.productId)),
      ("userLocale", "en-US"),
      ("requestIdentifier", .string(randomUUID())),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("signedDate", date(signedDate)),
    ])
  }
}

/// A new UUID, version 4, in lower case.
private func randomUUID() -> String {
  var digits = (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }
  digits[12] = "4"
  digits[16] = String(Int.random(in: 8..<12), radix: 16)
  var groups: [String] = []
  for length in [8, 4, 4, 4, 12] {
    groups.append(digits.prefix(length).joined())
    digits.removeFirst(length)
  }
  return groups.joined(separator: "-")
}
