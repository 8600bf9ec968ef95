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
    self.json = json
    originalTransactionId = try json.string("originalTransactionId")
    productId = try json.string("productId")
    autoRenewProductId = try json.string("autoRenewProductId")
    autoRenewStatus = try json.code("autoRenewStatus")
    expirationIntent = try json.code("expirationIntent")
    isInBillingRetryPeriod = try json.bool("isInBillingRetryPeriod")
    gracePeriodExpiresDate = try json.instant("gracePeriodExpiresDate")
    priceIncreaseStatus = try json.code("priceIncreaseStatus")
    renewalDate = try json.instant("renewalDate")
    renewalPrice = try json.integer("renewalPrice")
    renewalQuantity = try json.integer("renewalQuantity")
    renewalBillingPlanType = try json.code("renewalBillingPlanType")
    currency = try json.string("currency")
    recentSubscriptionStartDate = try json.instant("recentSubscriptionStartDate")
    signedDate = try json.instant("signedDate")
    environment = try json.environment("environment")
    offerType = try json.code("offerType")
    offerIdentifier = try json.string("offerIdentifier")
    offerDiscountType = try json.code("offerDiscountType")
    offerPeriod = try json.string("offerPeriod")
    eligibleWinBackOfferIds = try json.strings("eligibleWinBackOfferIds")
    appAccountToken = try json.string("appAccountToken")
    appTransactionId = try json.string("appTransactionId")
    commitmentInfo = try json.part("commitmentInfo")
    multiSeatInfo = try json.part("multiSeatInfo")
    advancedCommerceInfo = try json.part("advancedCommerceInfo")
  }
}
