package import AppStore

/// What someone wants to buy.
package struct PurchaseOrder: Hashable, Sendable {
  /// The operator's name for the app.
  package var app: String
  package var productId: String
  /// A UUID, as the app would give it to StoreKit.
  package var appAccountToken: String?
  /// Who buys: any name for an Apple account. Without one, an account that never bought before.
  package var account: String?
  package var quantity: Int64
  /// When it was bought; now, if not given. Lets a tester have bought something in the past.
  package var purchaseDate: Instant?
  /// The id of an offer for the product.
  package var offer: String?
  /// Seats of a subscription for several people.
  package var seats: Int64?
  /// What the developer says of the introductory offer, which counts more than the App Store's own rule.
  var allowsIntroductoryOffer: Bool?

  package init(
    app: String, productId: String, appAccountToken: String? = nil, account: String? = nil,
    quantity: Int64 = 1, purchaseDate: Instant? = nil, offer: String? = nil, seats: Int64? = nil
  ) {
    self.app = app
    self.productId = productId
    self.appAccountToken = appAccountToken
    self.account = account
    self.quantity = quantity
    self.purchaseDate = purchaseDate
    self.offer = offer
    self.seats = seats
  }
}

/// What the buyer gets: signed data as StoreKit would hand it to the app.
package struct Purchase: Hashable, Sendable {
  package let transactionId: String
  package let originalTransactionId: String
  package let productId: String
  package let account: String
  package let signedTransactionInfo: String
  /// Only for an auto-renewable subscription.
  package let signedRenewalInfo: String?
}
