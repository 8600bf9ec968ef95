package import JSON

/// A transaction: one purchase, or one period of a subscription.
///
/// The names are Apple's (App Store Server API, JWSTransactionDecodedPayload, up to 1.23). Every member is
/// optional, as Apple documents it; the caller decides which are required.
package struct JWSTransactionDecodedPayload: DecodedPayload {
  package let json: JSONObject

  /// Identifies one purchase or renewal.
  package let transactionId: String?
  /// Identifies the purchase; equal for all renewals of a subscription.
  package let originalTransactionId: String?
  /// The ``originalTransactionId`` before a migration to Advanced Commerce.
  package let previousOriginalTransactionId: String?
  /// Identifies one period of a subscription, on all devices.
  package let webOrderLineItemId: String?
  /// Identifies one Apple account's install of the app.
  package let appTransactionId: String?
  /// The UUID that the app set at the purchase to identify the customer.
  package let appAccountToken: String?
  /// The bundle id of the app that sold it; a verifier compares it with the configured one.
  package let bundleId: String?
  package let productId: String?
  /// The App Store's number of the subscription group; `nil` for other products.
  package let subscriptionGroupIdentifier: String?
  package let type: ProductType?
  /// 1 unless several units of a consumable or several seats were bought.
  package let quantity: Int64?
  /// Whether the Apple account bought it, shares it with a family, or has a seat of it.
  package let inAppOwnershipType: InAppOwnershipType?
  /// The time of the purchase, or the start of the period.
  package let purchaseDate: Instant?
  /// When the purchase was first made.
  package let originalPurchaseDate: Instant?
  /// The end of the subscription period.
  package let expiresDate: Instant?
  /// When Apple signed the payload; among payloads about one transaction the latest wins.
  package let signedDate: Instant?
  /// When Apple refunded or revoked it.
  package let revocationDate: Instant?
  /// Whether Apple named an issue with the app as the reason of the refund.
  package let revocationReason: RevocationReason?
  /// Whether all, a part or seats were refunded, or sharing ended.
  package let revocationType: RevocationType?
  /// The refunded share of the price in thousandths of a percent, 0 to 100,000.
  package let revocationPercentage: Int64?
  /// Whether an upgrade to a higher level of the group replaced it.
  package let isUpgraded: Bool?
  /// The kind of the offer that set the price of the period; `nil` without one.
  package let offerType: OfferType?
  /// The id of a promotional or win-back offer, or the name of an offer code; absent for an introductory
  /// one.
  package let offerIdentifier: String?
  /// How the offer is paid; `nil` without an offer.
  package let offerDiscountType: OfferDiscountType?
  /// The duration of the offer, an ISO 8601 duration; see ``Period``.
  package let offerPeriod: String?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// The storefront's country, ISO 3166-1 alpha-3.
  package let storefront: String?
  /// Apple's number of the storefront.
  package let storefrontId: String?
  /// Whether the customer bought it, or the App Store renewed it; absent in documents from before Apple introduced it.
  package let transactionReason: TransactionReason?
  /// Set on every transaction of a period that several transactions cover.
  package let additionalTransactionReason: AdditionalTransactionReason?
  /// ISO 4217.
  package let currency: String?
  /// In milliunits of the currency.
  package let price: Int64?
  /// Whether a period is paid at once or as a part of a commitment; `nil` also before API 1.21.
  package let billingPlanType: BillingPlanType?
  /// The commitment that a monthly payment is part of.
  package let commitmentInfo: TransactionCommitmentInfo?
  /// The purchased seats.
  package let multiSeatInfo: TransactionMultiSeatInfo?
  /// The items of an Advanced Commerce purchase.
  package let advancedCommerceInfo: AdvancedCommerceTransactionInfo?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    transactionId = try json.string("transactionId")
    originalTransactionId = try json.string("originalTransactionId")
    previousOriginalTransactionId = try json.string("previousOriginalTransactionId")
    webOrderLineItemId = try json.string("webOrderLineItemId")
    appTransactionId = try json.string("appTransactionId")
    appAccountToken = try json.string("appAccountToken")
    bundleId = try json.string("bundleId")
    productId = try json.string("productId")
    subscriptionGroupIdentifier = try json.string("subscriptionGroupIdentifier")
    type = try json.code("type")
    quantity = try json.integer("quantity")
    inAppOwnershipType = try json.code("inAppOwnershipType")
    purchaseDate = try json.instant("purchaseDate")
    originalPurchaseDate = try json.instant("originalPurchaseDate")
    expiresDate = try json.instant("expiresDate")
    signedDate = try json.instant("signedDate")
    revocationDate = try json.instant("revocationDate")
    revocationReason = try json.code("revocationReason")
    revocationType = try json.code("revocationType")
    revocationPercentage = try json.integer("revocationPercentage")
    isUpgraded = try json.bool("isUpgraded")
    offerType = try json.code("offerType")
    offerIdentifier = try json.string("offerIdentifier")
    offerDiscountType = try json.code("offerDiscountType")
    offerPeriod = try json.string("offerPeriod")
    environment = try json.environment("environment")
    storefront = try json.string("storefront")
    storefrontId = try json.string("storefrontId")
    transactionReason = try json.code("transactionReason")
    additionalTransactionReason = try json.code("additionalTransactionReason")
    currency = try json.string("currency")
    price = try json.integer("price")
    billingPlanType = try json.code("billingPlanType")
    commitmentInfo = try json.part("commitmentInfo")
    multiSeatInfo = try json.part("multiSeatInfo")
    advancedCommerceInfo = try json.part("advancedCommerceInfo")
  }
}
