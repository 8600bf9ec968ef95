package import JSON

/// One transaction: a purchase, or one period of a subscription.
///
/// The names are Apple's (App Store Server API, JWSTransactionDecodedPayload, up to 1.23). Apple
/// documents every member as optional; which of them must be there is for the reader to say.
package struct JWSTransactionDecodedPayload: DecodedPayload {
  package let json: JSONObject

  /// Identifies this one purchase or renewal.
  package let transactionId: String?
  /// Identifies the purchase line: all renewals of a subscription have the same.
  package let originalTransactionId: String?
  /// The line before a migration to Advanced Commerce.
  package let previousOriginalTransactionId: String?
  /// Identifies one period of a subscription.
  package let webOrderLineItemId: String?
  /// Identifies one Apple account's copy of the app.
  package let appTransactionId: String?
  /// The UUID that the app gave the purchase to say whose it is.
  package let appAccountToken: String?
  package let bundleId: String?
  package let productId: String?
  package let subscriptionGroupIdentifier: String?
  package let type: ProductType?
  package let quantity: Int64?
  package let inAppOwnershipType: InAppOwnershipType?
  /// When it was bought, or when the period began.
  package let purchaseDate: Instant?
  /// When the purchase line began.
  package let originalPurchaseDate: Instant?
  /// When the period of a subscription ends or ended.
  package let expiresDate: Instant?
  /// When Apple signed this payload; among two about one transaction the later one counts.
  package let signedDate: Instant?
  /// When Apple refunded it or took it back.
  package let revocationDate: Instant?
  package let revocationReason: RevocationReason?
  package let revocationType: RevocationType?
  /// How much of the price was given back.
  package let revocationPercentage: Int64?
  /// Whether a higher level of the same group took its place.
  package let isUpgraded: Bool?
  package let offerType: OfferType?
  package let offerIdentifier: String?
  package let offerDiscountType: OfferDiscountType?
  /// How long the offer lasts, an ISO 8601 duration; see ``Period``.
  package let offerPeriod: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// The storefront's country, ISO 3166-1 alpha-3.
  package let storefront: String?
  package let storefrontId: String?
  package let transactionReason: TransactionReason?
  /// Why several transactions stand for one period.
  package let additionalTransactionReason: String?
  /// ISO 4217.
  package let currency: String?
  /// In thousandths of the currency.
  package let price: Int64?
  package let billingPlanType: BillingPlanType?
  /// The commitment that a monthly payment is part of.
  package let commitmentInfo: TransactionCommitmentInfo?
  /// The seats bought with it.
  package let multiSeatInfo: TransactionMultiSeatInfo?
  /// What an Advanced Commerce purchase is made of.
  package let advancedCommerceInfo: AdvancedCommerceTransactionInfo?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    transactionId = try reader.string("transactionId")
    originalTransactionId = try reader.string("originalTransactionId")
    previousOriginalTransactionId = try reader.string("previousOriginalTransactionId")
    webOrderLineItemId = try reader.string("webOrderLineItemId")
    appTransactionId = try reader.string("appTransactionId")
    appAccountToken = try reader.string("appAccountToken")
    bundleId = try reader.string("bundleId")
    productId = try reader.string("productId")
    subscriptionGroupIdentifier = try reader.string("subscriptionGroupIdentifier")
    type = try reader.code("type")
    quantity = try reader.integer("quantity")
    inAppOwnershipType = try reader.code("inAppOwnershipType")
    purchaseDate = try reader.instant("purchaseDate")
    originalPurchaseDate = try reader.instant("originalPurchaseDate")
    expiresDate = try reader.instant("expiresDate")
    signedDate = try reader.instant("signedDate")
    revocationDate = try reader.instant("revocationDate")
    revocationReason = try reader.code("revocationReason")
    revocationType = try reader.code("revocationType")
    revocationPercentage = try reader.integer("revocationPercentage")
    isUpgraded = try reader.bool("isUpgraded")
    offerType = try reader.code("offerType")
    offerIdentifier = try reader.string("offerIdentifier")
    offerDiscountType = try reader.code("offerDiscountType")
    offerPeriod = try reader.string("offerPeriod")
    environment = try reader.environment("environment")
    storefront = try reader.string("storefront")
    storefrontId = try reader.string("storefrontId")
    transactionReason = try reader.code("transactionReason")
    additionalTransactionReason = try reader.string("additionalTransactionReason")
    currency = try reader.string("currency")
    price = try reader.integer("price")
    billingPlanType = try reader.code("billingPlanType")
    commitmentInfo = try reader.part("commitmentInfo")
    multiSeatInfo = try reader.part("multiSeatInfo")
    advancedCommerceInfo = try reader.part("advancedCommerceInfo")
  }
}
