package import JSON

/// An app receipt in the format of `verifyReceipt` (Apple's `receipt`), for writing. ``LegacyReceipt`` reads
/// the same format.
package struct LegacyReceiptContent: Hashable, Sendable {
  /// `Production`, `ProductionSandbox`, `ProductionVPP` or `ProductionVPPSandbox`.
  package var receiptType: String?
  /// The app's bundle id.
  package var bundleID: String
  /// 0 in Apple's sandbox.
  package var appItemID: Int64 = 0
  /// 0 in Apple's sandbox.
  package var downloadID: Int64 = 0
  /// 0 in Apple's sandbox.
  package var versionExternalIdentifier: Int64 = 0
  /// The version for which the receipt was made.
  package var applicationVersion: String?
  /// The version that the customer first got; always `1.0` in Apple's sandbox.
  package var originalApplicationVersion: String?
  /// In the order of the receipt.
  package var purchases: [LegacyPurchase] = []
  /// When Apple created the receipt.
  package var creationDate: Instant?
  /// When `verifyReceipt` was called.
  package var requestDate: Instant?
  /// When the customer first got the app.
  package var originalPurchaseDate: Instant?
  /// Not part of a receipt; `verifyReceipt` adds it.
  package var preorderDate: Instant?
  /// Only for apps from the Volume Purchase Program.
  package var expirationDate: Instant?

  /// Creates an empty receipt; all other members can be set.
  package init(bundleID: String) { self.bundleID = bundleID }

  /// The members in the legacy format: numbers as numbers, dates in three formats.
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

/// The next renewal of a subscription in the format of `verifyReceipt` (Apple's `pending_renewal_info`), for
/// writing. ``PendingRenewalInfo`` reads the same format.
package struct LegacyRenewal: Hashable, Sendable {
  /// The purchase that the renewal info is about.
  package var originalTransactionID: String
  /// The product of the current period.
  package var productID: String
  /// The product of the next period; `nil` if Apple did not send it.
  package var autoRenewProductID: String?
  /// `nil` if Apple did not send it.
  package var autoRenews: Bool?
  /// The reason of its end. With an intent, `is_in_billing_retry_period` is always written.
  package var expirationIntent: ExpirationIntent?
  /// Whether Apple retries a failed renewal payment.
  package var isInBillingRetry = false
  /// The end of the billing grace period; `nil` without one.
  package var gracePeriodExpiresDate: Instant?
  /// `nil` without a price increase.
  package var priceIncreaseStatus: PriceIncreaseStatus?
  /// The offer of the next period.
  package var offer = LegacyOffer()

  /// Creates a renewal; all other members can be set.
  package init(originalTransactionID: String, productID: String) {
    self.originalTransactionID = originalTransactionID
    self.productID = productID
  }

  /// The members in the legacy format: numbers and Booleans as strings.
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
  /// In the order of `pending_renewal_info`: the oldest subscription first, by id.
  package var oldestFirst: [LegacyRenewal] {
    sorted { isLowerIdentifier($0.originalTransactionID, $1.originalTransactionID) }
  }
}
