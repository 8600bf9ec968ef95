package import JSON

/// One purchase, as `verifyReceipt` and version 1 notifications show it (Apple's `in_app` and
/// `latest_receipt_info`). It has no signature: it counts as far as the way by which it came.
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
  /// When Apple refunded it, or an upgrade cut it off; see ``isUpgraded``.
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
