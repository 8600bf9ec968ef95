package import AppStore
internal import JSON
internal import SignedData

/// The order of a purchase.
package struct PurchaseOrder: Hashable, Sendable {
  /// The app's id in the configuration.
  package var app: String
  /// The product to buy.
  package var productId: String
  /// A UUID that the app passes to StoreKit.
  package var appAccountToken: String?
  /// The name of the Apple account; `nil` creates a new account.
  package var account: String?
  /// The number of items: 1 to 10 for consumables and non-renewing subscriptions, otherwise 1.
  package var quantity: Int64
  /// The purchase date, which may be in the past; `nil` means now.
  package var purchaseDate: Instant?
  /// The billing plan; the monthly one makes a commitment to twelve payments.
  package var billingPlan: BillingPlan
  /// The id of an offer for the product and the billing plan.
  package var offer: String?
  /// The number of seats of a subscription.
  package var seats: Int64?
  /// Whether an organization buys the seats (Volume Purchasing), otherwise a subscriber (Group Purchases).
  package var isOrganization = false
  /// The developer's signed decision about the introductory offer, which overrides the App Store's rule; `nil` without
  /// one.
  var allowsIntroductoryOffer: Bool?

  /// Creates an order of one item, now, for a new account.
  package init(
    app: String, productId: String, appAccountToken: String? = nil, account: String? = nil,
    quantity: Int64 = 1, purchaseDate: Instant? = nil, billingPlan: BillingPlan = .billedUpfront,
    offer: String? = nil, seats: Int64? = nil
  ) {
    self.app = app
    self.productId = productId
    self.appAccountToken = appAccountToken
    self.account = account
    self.quantity = quantity
    self.purchaseDate = purchaseDate
    self.billingPlan = billingPlan
    self.offer = offer
    self.seats = seats
  }
}

/// The result of a purchase: the documents that StoreKit passes to the app.
package struct Purchase: Hashable, Sendable {
  /// The new transaction.
  package let transactionId: String
  /// The purchase that the transaction belongs to; of an earlier subscription if it was bought again.
  package let originalTransactionId: String
  /// The bought product.
  package let productId: String
  /// The Apple account, which the purchase may have created.
  package let account: String
  /// The JWS of the transaction.
  package let signedTransactionInfo: String
  /// `nil` unless the product is an auto-renewable subscription.
  package let signedRenewalInfo: String?
}

extension PurchaseOrder {
  /// The accepted members.
  static let members = [
    "app", "productId", "appAccountToken", "account", "quantity", "purchaseDate", "billingPlanType", "offer",
    "offerSignature", "keyIdentifier", "nonce", "timestamp", "introductoryOfferEligibility", "seats",
    "organization",
    "askToBuy",
  ]

  /// Decodes an order from a request body. It checks types only; ``World/buy(_:)`` checks whether the order can be
  /// sold.
  ///
  /// - Throws: ``ActionError`` for a missing, unknown or malformed member.
  init(_ parameters: Parameters) throws(ActionError) {
    try parameters.allow(only: Self.members)
    self.init(
      app: try parameters.string("app"), productId: try parameters.string("productId"),
      appAccountToken: try parameters.stringIfPresent("appAccountToken"),
      account: try parameters.stringIfPresent("account"),
      quantity: try parameters.integerIfPresent("quantity") ?? 1,
      purchaseDate: try parameters.instantIfPresent("purchaseDate"),
      billingPlan: try parameters.billingPlan(), offer: try parameters.stringIfPresent("offer"),
      seats: try parameters.integerIfPresent("seats"))
    isOrganization = try parameters.flagIfPresent("organization") ?? false
    // The signature was checked before, by `checkOffer`.
    let eligibility = try parameters.stringIfPresent("introductoryOfferEligibility")
    allowsIntroductoryOffer = eligibility.flatMap { try? UnverifiedJWS($0) }
      .flatMap { $0.payload["allowIntroductoryOffer"]?.boolValue }
  }

  /// The JSON form, as decoded by ``init(_:)``.
  var json: JSONObject {
    var json: JSONObject = ["app": .string(app), "productId": .string(productId)]
    json["appAccountToken"] = appAccountToken.map(JSONValue.string)
    json["account"] = account.map(JSONValue.string)
    json["quantity"] = .number(JSONNumber(quantity))
    json["purchaseDate"] = purchaseDate.map { .number(JSONNumber($0.millisecondsSince1970)) }
    if billingPlan != .billedUpfront { json["billingPlanType"] = .string(billingPlan.rawValue) }
    json["offer"] = offer.map(JSONValue.string)
    json["seats"] = seats.map { .number(JSONNumber($0)) }
    if isOrganization { json["organization"] = true }
    return json
  }
}
