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
  package let bundleId: String?
  package let applicationVersion: String?
  /// The version that the customer first got; always `1.0` in Apple's sandbox.
  package let originalApplicationVersion: String?
  package let versionExternalIdentifier: Int64?
  package let downloadId: Int64?
  /// When Apple created the receipt: its signature is verified as of this instant (WWDC18-704).
  package let receiptCreationDate: Instant?
  /// When `verifyReceipt` was called.
  package let requestDate: Instant?
  package let originalPurchaseDate: Instant?
  package let preorderDate: Instant?
  /// Only for apps from the Volume Purchase Program.
  package let expirationDate: Instant?
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

  package let transactionId: String?
  package let originalTransactionId: String?
  package let webOrderLineItemId: String?
  package let productId: String?
  package let subscriptionGroupIdentifier: String?
  package let appAccountToken: String?
  package let inAppOwnershipType: InAppOwnershipType?
  package let quantity: Int64?
  package let purchaseDate: Instant?
  package let originalPurchaseDate: Instant?
  package let expiresDate: Instant?
  /// When Apple refunded it or an upgrade cut it; see ``isUpgraded``.
  package let cancellationDate: Instant?
  /// 1 for an issue with the app, 0 for another reason.
  package let cancellationReason: Int64?
  package let isUpgraded: Bool?
  package let isTrialPeriod: Bool?
  package let isInIntroOfferPeriod: Bool?
  package let promotionalOfferId: String?
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

  package let originalTransactionId: String?
  package let productId: String?
  package let autoRenewProductId: String?
  package let autoRenewStatus: Bool?
  package let expirationIntent: Int64?
  package let isInBillingRetryPeriod: Bool?
  package let gracePeriodExpiresDate: Instant?
  /// 1 if the customer consented, 0 if consent was requested.
  package let priceConsentStatus: Int64?
  package let priceIncreaseStatus: Int64?
  package let promotionalOfferId: String?
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

  package let environment: Environment?
  package let status: VerifyReceiptStatus?
  /// The app receipt, base64.
  package let latestReceipt: String?
  /// The latest 100 transactions.
  package let latestReceiptInfo: [LegacyTransaction]?
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
