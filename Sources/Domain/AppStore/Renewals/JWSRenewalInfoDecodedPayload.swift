package import JSON

/// What happens to a subscription at its next renewal, or why there is none.
///
/// The names are Apple's (App Store Server API, JWSRenewalInfoDecodedPayload, up to 1.23). It does not
/// say which app it belongs to.
package struct JWSRenewalInfoDecodedPayload: DecodedPayload {
  package let json: JSONObject

  /// The subscription this is about.
  package let originalTransactionId: String?
  /// The product of the current period.
  package let productId: String?
  /// The product of the next period.
  package let autoRenewProductId: String?
  package let autoRenewStatus: AutoRenewStatus?
  /// Why it expired; absent while it has not.
  package let expirationIntent: ExpirationIntent?
  /// Whether Apple is trying to collect a failed payment.
  package let isInBillingRetryPeriod: Bool?
  /// When the billing grace period ends; absent without one.
  package let gracePeriodExpiresDate: Instant?
  package let priceIncreaseStatus: PriceIncreaseStatus?
  /// When the next period begins.
  package let renewalDate: Instant?
  /// In thousandths of the currency.
  package let renewalPrice: Int64?
  /// Seats of the next period.
  package let renewalQuantity: Int64?
  package let renewalBillingPlanType: BillingPlanType?
  /// ISO 4217.
  package let currency: String?
  /// When the current run of periods began; gaps of up to 60 days do not end a run.
  package let recentSubscriptionStartDate: Instant?
  /// When Apple signed this payload.
  package let signedDate: Instant?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  package let offerType: OfferType?
  package let offerIdentifier: String?
  package let offerDiscountType: OfferDiscountType?
  /// How long the offer lasts, an ISO 8601 duration; see ``Period``.
  package let offerPeriod: String?
  /// The win-back offers this customer may have, best first.
  package let eligibleWinBackOfferIds: [String]?
  /// The UUID that the app gave the purchase to say whose it is.
  package let appAccountToken: String?
  /// Identifies one Apple account's copy of the app.
  package let appTransactionId: String?
  /// The commitment of the next period.
  package let commitmentInfo: RenewalCommitmentInfo?
  /// The seats of the next period.
  package let multiSeatInfo: RenewalMultiSeatInfo?
  /// What an Advanced Commerce subscription renews to.
  package let advancedCommerceInfo: AdvancedCommerceRenewalInfo?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    originalTransactionId = try reader.string("originalTransactionId")
    productId = try reader.string("productId")
    autoRenewProductId = try reader.string("autoRenewProductId")
    autoRenewStatus = try reader.code("autoRenewStatus")
    expirationIntent = try reader.code("expirationIntent")
    isInBillingRetryPeriod = try reader.bool("isInBillingRetryPeriod")
    gracePeriodExpiresDate = try reader.instant("gracePeriodExpiresDate")
    priceIncreaseStatus = try reader.code("priceIncreaseStatus")
    renewalDate = try reader.instant("renewalDate")
    renewalPrice = try reader.integer("renewalPrice")
    renewalQuantity = try reader.integer("renewalQuantity")
    renewalBillingPlanType = try reader.code("renewalBillingPlanType")
    currency = try reader.string("currency")
    recentSubscriptionStartDate = try reader.instant("recentSubscriptionStartDate")
    signedDate = try reader.instant("signedDate")
    environment = try reader.environment("environment")
    offerType = try reader.code("offerType")
    offerIdentifier = try reader.string("offerIdentifier")
    offerDiscountType = try reader.code("offerDiscountType")
    offerPeriod = try reader.string("offerPeriod")
    eligibleWinBackOfferIds = try reader.strings("eligibleWinBackOfferIds")
    appAccountToken = try reader.string("appAccountToken")
    appTransactionId = try reader.string("appTransactionId")
    commitmentInfo = try reader.part("commitmentInfo")
    multiSeatInfo = try reader.part("multiSeatInfo")
    advancedCommerceInfo = try reader.part("advancedCommerceInfo")
  }
}
