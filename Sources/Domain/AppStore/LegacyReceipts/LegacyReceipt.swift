package import JSON

/// A decoded app receipt in the format of `verifyReceipt` (Apple's `receipt`).
package struct LegacyReceipt: DecodedPayload {
  package let json: JSONObject

  /// `Production`, `ProductionSandbox`, `ProductionVPP` or `ProductionVPPSandbox`.
  package let receiptType: String?
  /// The app's App Store id; 0 in Apple's sandbox.
  package let adamId: Int64?
  /// Equal to ``adamId``.
  package let appItemId: Int64?
  /// The bundle id of the app; a verifier compares it with the configured one.
  package let bundleId: String?
  /// The version for which the receipt was made.
  package let applicationVersion: String?
  /// The version that the customer first got; always `1.0` in Apple's sandbox.
  package let originalApplicationVersion: String?
  /// The App Store's number of that version; 0 in Apple's sandbox.
  package let versionExternalIdentifier: Int64?
  /// The App Store's number of the download; 0 in Apple's sandbox.
  package let downloadId: Int64?
  /// When Apple created the receipt: its signature is verified as of this instant (WWDC18-704).
  package let receiptCreationDate: Instant?
  /// When `verifyReceipt` was called.
  package let requestDate: Instant?
  /// When the customer first got the app; always in 2013 in Apple's sandbox.
  package let originalPurchaseDate: Instant?
  /// When the customer pre-ordered the app; `nil` without a pre-order.
  package let preorderDate: Instant?
  /// Only for apps from the Volume Purchase Program.
  package let expirationDate: Instant?
  /// The purchases in the receipt; it has consumables only until they are finished.
  package let inApp: [LegacyTransaction]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    receiptType = try reader.text("receipt_type")
    adamId = try reader.integer("adam_id")
    appItemId = try reader.integer("app_item_id")
    bundleId = try reader.text("bundle_id")
    applicationVersion = try reader.text("application_version")
    originalApplicationVersion = try reader.text("original_application_version")
    versionExternalIdentifier = try reader.integer("version_external_identifier")
    downloadId = try reader.integer("download_id")
    receiptCreationDate = try reader.date("receipt_creation_date")
    requestDate = try reader.date("request_date")
    originalPurchaseDate = try reader.date("original_purchase_date")
    preorderDate = try reader.date("preorder_date")
    expirationDate = try reader.date("expiration_date")
    inApp = try reader.parts("in_app")
  }
}

/// One purchase in `verifyReceipt` responses and version 1 notifications (Apple's `in_app` and
/// `latest_receipt_info`). It has no signature: it is as trustworthy as the channel it came by
/// (WWDC21-10174).
package struct LegacyTransaction: DecodedPayload {
  package let json: JSONObject

  /// Identifies one purchase or renewal.
  package let transactionId: String?
  /// Identifies the purchase; equal for all renewals of a subscription.
  package let originalTransactionId: String?
  /// Identifies one period of a subscription, on all devices.
  package let webOrderLineItemId: String?
  package let productId: String?
  /// Only in `latest_receipt_info`, as are the next three members.
  package let subscriptionGroupIdentifier: String?
  /// The UUID that the app set at the purchase to identify the customer.
  package let appAccountToken: String?
  /// The customer's own, or shared.
  package let inAppOwnershipType: InAppOwnershipType?
  /// The number of units of a consumable.
  package let quantity: Int64?
  /// The time of the purchase, or the start of the period.
  package let purchaseDate: Instant?
  /// When the purchase was first made.
  package let originalPurchaseDate: Instant?
  /// The end of the subscription period; `nil` for other products.
  package let expiresDate: Instant?
  /// When Apple refunded it or an upgrade cut it; see ``isUpgraded``.
  package let cancellationDate: Instant?
  /// 1 for an issue with the app, 0 for another reason.
  package let cancellationReason: Int64?
  /// Whether a purchase of a higher level of the group replaced it; only in `latest_receipt_info`.
  package let isUpgraded: Bool?
  /// Whether the period is a free trial.
  package let isTrialPeriod: Bool?
  /// Whether the period has an introductory price that is not a free trial.
  package let isInIntroOfferPeriod: Bool?
  /// The id of the promotional offer that set the price; `nil` without one.
  package let promotionalOfferId: String?
  /// The name of the offer code in App Store Connect; `nil` without one.
  package let offerCodeRefName: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    transactionId = try reader.text("transaction_id")
    originalTransactionId = try reader.text("original_transaction_id")
    webOrderLineItemId = try reader.text("web_order_line_item_id")
    productId = try reader.text("product_id")
    subscriptionGroupIdentifier = try reader.text("subscription_group_identifier")
    appAccountToken = try reader.text("app_account_token")
    inAppOwnershipType = try reader.code("in_app_ownership_type")
    quantity = try reader.integer("quantity")
    purchaseDate = try reader.date("purchase_date")
    originalPurchaseDate = try reader.date("original_purchase_date")
    expiresDate = try reader.date("expires_date")
    cancellationDate = try reader.date("cancellation_date")
    cancellationReason = try reader.integer("cancellation_reason")
    isUpgraded = try reader.bool("is_upgraded")
    isTrialPeriod = try reader.bool("is_trial_period")
    isInIntroOfferPeriod = try reader.bool("is_in_intro_offer_period")
    promotionalOfferId = try reader.text("promotional_offer_id")
    offerCodeRefName = try reader.text("offer_code_ref_name")
  }
}

/// The next renewal of a subscription in the format of `verifyReceipt` (Apple's `pending_renewal_info`).
package struct PendingRenewalInfo: DecodedPayload {
  package let json: JSONObject

  /// Identifies the subscription; equal for all of its renewals.
  package let originalTransactionId: String?
  /// The product of the current period.
  package let productId: String?
  /// The product of the next period.
  package let autoRenewProductId: String?
  /// Whether the subscription renews at the end of its period.
  package let autoRenewStatus: Bool?
  /// Apple's number of the reason of the end, as in ``ExpirationIntent``; absent while it has not ended.
  package let expirationIntent: Int64?
  /// Whether Apple retries a failed renewal payment; absent while the subscription has not ended.
  package let isInBillingRetryPeriod: Bool?
  /// The end of the billing grace period; absent without one.
  package let gracePeriodExpiresDate: Instant?
  /// 1 if the customer consented, 0 if consent was requested.
  package let priceConsentStatus: Int64?
  /// 1 if the customer consented or no consent is needed, 0 while Apple waits for it; absent without a
  /// price increase.
  package let priceIncreaseStatus: Int64?
  /// The promotional offer of the next period.
  package let promotionalOfferId: String?
  /// The name of the offer code of the next period.
  package let offerCodeRefName: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    originalTransactionId = try reader.text("original_transaction_id")
    productId = try reader.text("product_id")
    autoRenewProductId = try reader.text("auto_renew_product_id")
    autoRenewStatus = try reader.bool("auto_renew_status")
    expirationIntent = try reader.integer("expiration_intent")
    isInBillingRetryPeriod = try reader.bool("is_in_billing_retry_period")
    gracePeriodExpiresDate = try reader.date("grace_period_expires_date")
    priceConsentStatus = try reader.integer("price_consent_status")
    priceIncreaseStatus = try reader.integer("price_increase_status")
    promotionalOfferId = try reader.text("promotional_offer_id")
    offerCodeRefName = try reader.text("offer_code_ref_name")
  }
}

/// The customer's purchases in a version 1 notification (Apple's `unified_receipt`).
package struct UnifiedReceipt: DecodedPayload {
  package let json: JSONObject

  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// The outcome; 0 is success.
  package let status: VerifyReceiptStatus?
  /// The app receipt, base64.
  package let latestReceipt: String?
  /// The latest 100 transactions.
  package let latestReceiptInfo: [LegacyTransaction]?
  /// The next renewals, one for each subscription.
  package let pendingRenewalInfo: [PendingRenewalInfo]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = LegacyReader(json: json)
    self.json = json
    environment = try reader.environment("environment")
    status = try reader.code("status")
    latestReceipt = try reader.text("latest_receipt")
    latestReceiptInfo = try reader.parts("latest_receipt_info")
    pendingRenewalInfo = try reader.parts("pending_renewal_info")
  }
}
