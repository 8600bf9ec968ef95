package import AppStore
package import Entitlements

/// The price of a product in one storefront on one day, as a transaction states it.
package struct StorefrontPrice: Hashable, Sendable {
  /// The App Store product id.
  package let productID: String
  /// ISO 3166-1 alpha-3.
  package let storefront: String
  /// `nil`: the product has no billing plan.
  package let billingPlan: BillingPlanType?
  /// `nil`: Apple did not send it.
  package let reason: TransactionReason?
  /// The day of the purchase in UTC, in days since 1970.
  package let day: Int64
  /// In thousandths of the currency unit; 0 or more.
  package let milliunits: Int64
  /// ISO 4217.
  package let currency: String

  package init(
    productID: String, storefront: String, billingPlan: BillingPlanType?, reason: TransactionReason?,
    day: Int64, milliunits: Int64, currency: String
  ) {
    self.productID = productID
    self.storefront = storefront
    self.billingPlan = billingPlan
    self.reason = reason
    self.day = day
    self.milliunits = milliunits
    self.currency = currency
  }

  /// The price that a transaction states; `nil` unless it is that of one unit without an offer, which the customer
  /// paid. A transaction with seats has an average price.
  package init?(_ fact: TransactionFact) {
    let details = fact.details
    guard let milliunits = details.price, milliunits >= 0, let currency = details.currency,
      let storefront = details.storefront, fact.offerType == nil, details.offerIdentifier == nil,
      fact.ownership == .purchased, fact.quantity == 1, fact.purchaseDate.millisecondsSince1970 >= 0
    else { return nil }
    self.init(
      productID: fact.productID, storefront: storefront, billingPlan: details.billingPlanType,
      reason: details.transactionReason,
      day: fact.purchaseDate.millisecondsSince1970 / Instant.millisecondsPerDay, milliunits: milliunits,
      currency: currency)
  }

  /// The start of the day.
  package var seenAt: Instant { Instant(millisecondsSince1970: day * Instant.millisecondsPerDay) }
}

/// Reads the prices of products.
package protocol PriceReader {
  /// Returns the price of the latest day for each storefront, billing plan and reason, in this order. Of several prices
  /// of that day it is the highest, so that the order of arrival does not matter.
  func prices(
    of productID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [StorefrontPrice]
}
