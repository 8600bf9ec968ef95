package import JSON

/// What happens to a subscription next, as `verifyReceipt` shows it (Apple's `pending_renewal_info`).
package struct PendingRenewalInfo: DecodedPayload {
  package let json: JSONObject

  package let originalTransactionId: String?
  package let productId: String?
  package let autoRenewProductId: String?
  package let autoRenewStatus: Bool?
  package let expirationIntent: Int64?
  package let isInBillingRetryPeriod: Bool?
  package let gracePeriodExpiresDate: Instant?
  /// 1 if the customer agreed, 0 if they were asked.
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
