package import AppStore

/// One product of an app, as the operator's catalog defines it.
package struct ProductDefinition: Hashable, Sendable {
  /// The App Store product id, such as `pro.monthly`.
  package let productID: String
  /// The product type set up in App Store Connect.
  package let type: ProductType
  /// The catalog's name of the subscription group; `nil` unless the product is an auto-renewable
  /// subscription.
  package let subscriptionGroup: String?
  /// The level in the group; 1 is the highest, as in App Store Connect.
  package let level: Int?
  /// The duration of the access that one purchase grants where Apple sends no expiry: a non-renewing
  /// subscription (WWDC22-110404), or a non-consumable that is a free trial (WWDC18-704). `nil` for other
  /// products.
  package let duration: Period?
  /// The access levels that the product grants, by entitlement.
  package let accessLevels: [String: AccessLevel]
  /// The operator's grace during billing retry; `nil`: only Apple's grace period applies.
  package let operatorGrace: OperatorGrace?

  /// The identifiers of its promotional offers in App Store Connect, best first, for advice.
  package let offers: [String]
  /// The price of a period, for advice; `nil` if the catalog has none.
  package let price: SubscriptionPrice?

  /// The entitlements that the product grants, in alphabetical order.
  package var entitlements: [String] { accessLevels.keys.sorted() }

  package init(
    productID: String, type: ProductType, subscriptionGroup: String? = nil, level: Int? = nil,
    duration: Period? = nil, accessLevels: [String: AccessLevel], operatorGrace: OperatorGrace? = nil,
    offers: [String] = [], price: SubscriptionPrice? = nil
  ) {
    self.productID = productID
    self.type = type
    self.subscriptionGroup = subscriptionGroup
    self.level = level
    self.duration = duration
    self.accessLevels = accessLevels
    self.operatorGrace = operatorGrace
    self.offers = offers
    self.price = price
  }

  /// Creates a product that grants full access to each of its entitlements.
  package init(
    productID: String, type: ProductType, subscriptionGroup: String? = nil, level: Int? = nil,
    duration: Period? = nil, entitlements: [String]
  ) {
    self.init(
      productID: productID, type: type, subscriptionGroup: subscriptionGroup, level: level,
      duration: duration,
      accessLevels: Dictionary(entitlements.map { ($0, .full) }, uniquingKeysWith: { $1 }))
  }
}

/// The regular price of one period of a subscription.
package struct SubscriptionPrice: Hashable, Sendable {
  /// In thousandths of the currency unit.
  package let milliunits: Int64
  /// ISO 4217.
  package let currency: String
  /// The duration that the price pays for.
  package let period: Period

  package init(milliunits: Int64, currency: String, period: Period) {
    self.milliunits = milliunits
    self.currency = currency
    self.period = period
  }

  /// Thousandths for one day, a month being a twelfth of a year.
  var perDay: Double {
    Double(milliunits) / (Double(period.months) * 365.2425 / 12 + Double(period.days))
  }
}
