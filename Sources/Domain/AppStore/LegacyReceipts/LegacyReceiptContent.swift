package import JSON

/// What a receipt says of the app, to be written as `verifyReceipt` writes it (Apple's `receipt`).
/// ``LegacyReceipt`` reads what this writes.
package struct LegacyReceiptContent: Hashable, Sendable {
  /// Apple's word for where the app came from.
  package var receiptType: String?
  package var bundleID: String
  /// 0 in the sandbox.
  package var appItemID: Int64 = 0
  /// 0 in the sandbox.
  package var downloadID: Int64 = 0
  /// 0 in the sandbox.
  package var versionExternalIdentifier: Int64 = 0
  package var applicationVersion: String?
  package var originalApplicationVersion: String?
  /// In the order of the receipt.
  package var purchases: [LegacyPurchase] = []
  package var creationDate: Instant?
  /// When it was asked.
  package var requestDate: Instant?
  package var originalPurchaseDate: Instant?
  /// No receipt has it: `verifyReceipt` adds it.
  package var preorderDate: Instant?
  package var expirationDate: Instant?

  /// A receipt of an app; everything else is set.
  package init(bundleID: String) { self.bundleID = bundleID }

  /// The members, numbers as numbers, dates three times.
  package var json: JSONObject {
    var json = JSONObject(present: [
      ("receipt_type", receiptType.map(JSONValue.string)),
      ("adam_id", JSONValue(appItemID)),
      ("app_item_id", JSONValue(appItemID)),
      ("bundle_id", .string(bundleID)),
      ("application_version", applicationVersion.map(JSONValue.string)),
      ("download_id", JSONValue(downloadID)),
      ("version_external_identifier", JSONValue(versionExternalIdentifier)),
      ("original_application_version", originalApplicationVersion.map(JSONValue.string)),
      ("in_app", .array(purchases.map { .object($0.json(in: .inApp)) })),
    ])
    json.add(legacyDate: creationDate, as: "receipt_creation_date")
    json.add(legacyDate: requestDate, as: "request_date")
    json.add(legacyDate: originalPurchaseDate, as: "original_purchase_date")
    json.add(legacyDate: preorderDate, as: "preorder_date")
    json.add(legacyDate: expirationDate, as: "expiration_date")
    return json
  }
}

/// What a subscription will do next, to be written as `verifyReceipt` writes it (Apple's `pending_renewal_info`).
/// ``PendingRenewalInfo`` reads what this writes.
package struct LegacyRenewal: Hashable, Sendable {
  package var originalTransactionID: String
  package var productID: String
  package var autoRenewProductID: String?
  /// `nil` if Apple did not say.
  package var autoRenews: Bool?
  /// Why it ended or is about to; while there is a reason, it is told too whether the charge is retried.
  package var expirationIntent: ExpirationIntent?
  package var isInBillingRetry = false
  package var gracePeriodExpiresDate: Instant?
  /// `nil` if no higher price was announced.
  package var priceIncreaseStatus: PriceIncreaseStatus?
  /// Of the next period.
  package var offer = LegacyOffer()

  /// A subscription; everything else is set.
  package init(originalTransactionID: String, productID: String) {
    self.originalTransactionID = originalTransactionID
    self.productID = productID
  }

  /// The members, numbers and truth values as texts.
  package var json: JSONObject {
    let isRetried = expirationIntent == nil && !isInBillingRetry ? nil : isInBillingRetry
    let consent = priceIncreaseStatus.map { JSONValue.string(String($0.rawValue)) }
    var json = JSONObject(present: [
      ("auto_renew_product_id", autoRenewProductID.map(JSONValue.string)),
      ("product_id", .string(productID)),
      ("original_transaction_id", .string(originalTransactionID)),
      ("auto_renew_status", autoRenews.map { $0 ? "1" : "0" }),
      ("expiration_intent", expirationIntent.map { .string(String($0.rawValue)) }),
      ("is_in_billing_retry_period", isRetried.map { $0 ? "1" : "0" }),
      ("price_consent_status", consent),
      ("price_increase_status", consent),
      ("promotional_offer_id", offer.promotionalOfferID.map(JSONValue.string)),
      ("offer_code_ref_name", offer.offerCodeName.map(JSONValue.string)),
    ])
    json.add(legacyDate: gracePeriodExpiresDate, as: "grace_period_expires_date")
    return json
  }
}

extension [LegacyRenewal] {
  /// In the order of `pending_renewal_info`: the subscription that began first comes first, by Apple's numbers.
  package var oldestFirst: [LegacyRenewal] {
    sorted { isLowerIdentifier($0.originalTransactionID, $1.originalTransactionID) }
  }
}
