package import JSON

/// A version 1 server notification, deprecated but still delivered (Apple's `responseBodyV1`).
///
/// It is not signed. ``password`` proves that the sender has the shared secret; the contents are trusted only
/// after a call to Apple confirms them.
package struct ResponseBodyV1: DecodedPayload {
  package let json: JSONObject

  /// The event for which Apple sent the notification.
  package let notificationType: NotificationTypeV1?
  /// Apple sends `PROD` for Production here.
  package let environment: Environment?
  /// The bundle identifier.
  package let bid: String?
  /// The version of the app.
  package let bvrs: String?
  /// The shared secret: never log or show it.
  package let password: String?
  /// The purchase, for types about one.
  package let originalTransactionId: String?
  /// The App Store id of the product that renews.
  package let autoRenewAdamId: String?
  /// The product of the next period.
  package let autoRenewProductId: String?
  /// Whether the subscription renews at the end of its period.
  package let autoRenewStatus: Bool?
  /// When the customer turned it on or off.
  package let autoRenewStatusChangeDate: Instant?
  /// Apple's number of the reason of the end, as in ``ExpirationIntent``; absent while it has not ended.
  package let expirationIntent: Int64?
  /// The date after which Apple ends version 1, as text.
  package let deprecation: String?
  /// The state of the customer's purchases.
  package let unifiedReceipt: UnifiedReceipt?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    notificationType = try reader.code("notification_type")
    environment = try reader.environment("environment")
    bid = try reader.text("bid")
    bvrs = try reader.text("bvrs")
    password = try reader.text("password")
    originalTransactionId = try reader.text("original_transaction_id")
    autoRenewAdamId = try reader.text("auto_renew_adam_id")
    autoRenewProductId = try reader.text("auto_renew_product_id")
    autoRenewStatus = try reader.bool("auto_renew_status")
    autoRenewStatusChangeDate = try reader.date("auto_renew_status_change_date")
    expirationIntent = try reader.integer("expiration_intent")
    deprecation = try reader.text("deprecation")
    unifiedReceipt = try reader.part("unified_receipt")
  }

  /// The `original_transaction_id` of the notification; if it has none, that of a purchase in it. Notifications about
  /// one-time purchases have it in the unified receipt only, and those from before the unified receipt in
  /// `latest_receipt_info` or, for a subscription that ended, `latest_expired_receipt_info`.
  package var purchaseID: String? {
    originalTransactionId ?? concernedPurchase?.originalTransactionId
      ?? Self.purchaseID(in: json["latest_receipt_info"])
      ?? Self.purchaseID(in: json["latest_expired_receipt_info"])
  }

  /// The purchase of the unified receipt that the notification is about: the one that Apple took back last, if it reports
  /// that, otherwise the latest one.
  private var concernedPurchase: LegacyTransaction? {
    let purchases = unifiedReceipt?.latestReceiptInfo ?? []
    switch notificationType {
    case .refund?, .revoke?:
      let takenBack = purchases.filter { $0.cancellationDate != nil && $0.isUpgraded != true }
      return takenBack.last(by: \.cancellationDate) ?? purchases.latest
    default: return purchases.latest
    }
  }

  /// The `original_transaction_id` of an object, or of the first one in a list.
  private static func purchaseID(in info: JSONValue?) -> String? {
    guard let entry = info?.objectValue ?? info?.arrayValue?.first?.objectValue else { return nil }
    return try? LegacyReader(json: entry).text("original_transaction_id")
  }
}

extension [LegacyTransaction] {
  /// The purchase or period with the latest purchase date; of several, the first one. Apple documents no order.
  package var latest: LegacyTransaction? { last(by: \.purchaseDate) }

  /// The one with the latest date of a kind; one without it only if all lack it.
  fileprivate func last(by date: (LegacyTransaction) -> Instant?) -> LegacyTransaction? {
    self.max { left, right in
      guard let end = date(right) else { return false }
      return date(left).map { $0 < end } ?? true
    }
  }
}
