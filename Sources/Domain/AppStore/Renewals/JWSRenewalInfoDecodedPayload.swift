package import JSON

/// The next renewal of a subscription, or why there is none.
///
/// The names are Apple's (App Store Server API, JWSRenewalInfoDecodedPayload, up to 1.23). The payload does
/// not name its app.
package struct JWSRenewalInfoDecodedPayload: DecodedPayload {
  package let json: JSONObject

  /// Identifies the subscription.
  package let originalTransactionId: String?
  /// The product of the current period.
  package let productId: String?
  /// The product of the next period.
  package let autoRenewProductId: String?
  /// Whether the subscription renews at the end of its period.
  package let autoRenewStatus: AutoRenewStatus?
  /// The reason of the subscription's end; absent while it has not ended.
  package let expirationIntent: ExpirationIntent?
  /// Whether Apple is retrying a failed renewal payment.
  package let isInBillingRetryPeriod: Bool?
  /// The end of the billing grace period; absent without one.
  package let gracePeriodExpiresDate: Instant?
  /// Whether the customer has consented to a price increase; `nil` if none needs consent.
  package let priceIncreaseStatus: PriceIncreaseStatus?
  /// When the most recent period ends and the next one starts.
  package let renewalDate: Instant?
  /// In milliunits of the currency.
  package let renewalPrice: Int64?
  /// The quantity of the next period.
  package let renewalQuantity: Int64?
  /// The billing plan of the next period.
  package let renewalBillingPlanType: BillingPlanType?
  /// ISO 4217.
  package let currency: String?
  /// The start of the current run of periods; gaps of up to 60 days do not end a run.
  package let recentSubscriptionStartDate: Instant?
  /// When Apple signed the payload.
  package let signedDate: Instant?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// The kind of the offer that sets the price of the next period; `nil` without one.
  package let offerType: OfferType?
  /// The id of the offer for the next period; absent for an introductory one.
  package let offerIdentifier: String?
  /// How that offer is paid; `nil` without an offer.
  package let offerDiscountType: OfferDiscountType?
  /// The duration of the offer, an ISO 8601 duration; see ``Period``.
  package let offerPeriod: String?
  /// The win-back offers that the customer is eligible for, best first.
  package let eligibleWinBackOfferIds: [String]?
  /// The UUID that the app set at the purchase to identify the customer.
  package let appAccountToken: String?
  /// Identifies one Apple account's install of the app.
  package let appTransactionId: String?
  /// The commitment of the next period.
  package let commitmentInfo: RenewalCommitmentInfo?
  /// The seats of the next period.
  package let multiSeatInfo: RenewalMultiSeatInfo?
  /// The items of the next period of an Advanced Commerce subscription.
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
