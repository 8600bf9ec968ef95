package import AppStore

/// An app of the simulated App Store.
package struct SandboxApp: Hashable, Sendable {
  /// The app's id in the configuration.
  package let id: String
  /// The bundle id and the Apple id in signed documents.
  package let identity: AppIdentity
  /// The products with which a world begins.
  package let products: [SandboxProduct]

  /// Creates an app; `products` may change at a later start, and the journal is replayed with those.
  package init(id: String, identity: AppIdentity, products: [SandboxProduct]) {
    self.id = id
    self.identity = identity
    self.products = products
  }
}

/// A product of an app.
package struct SandboxProduct: Hashable, Sendable {
  /// Unique in the app.
  package let productId: String
  /// Decides how it is sold and renewed.
  package let type: ProductType
  /// `nil` unless the product is an auto-renewable subscription.
  package let subscriptionGroupIdentifier: String?
  /// The level in the subscription group; 1 is the highest.
  package let level: Int
  /// The length of a subscription period; `nil` for other types.
  package let period: Period?
  /// The duration of a non-renewing subscription, if the app limits it; `nil` for other types.
  package let duration: Period?
  /// The price in thousandths of the currency; `nil` if it is not configured.
  package let price: Int64?
  /// The price of one payment of the monthly billing plan, in thousandths of the currency; `nil` if the product has no
  /// such plan. Only products of one year have one (Apple: "Supporting monthly subscriptions with a 12-month
  /// commitment").
  package let monthlyPrice: Int64?
  /// ISO 4217.
  package let currency: String

  /// Creates a product, by default a one-time purchase without a price, which cannot be sold until it has one.
  package init(
    productId: String, type: ProductType, subscriptionGroupIdentifier: String? = nil, level: Int = 1,
    period: Period? = nil, duration: Period? = nil, price: Int64? = nil, monthlyPrice: Int64? = nil,
    currency: String = "USD"
  ) {
    self.productId = productId
    self.type = type
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.level = level
    self.period = period
    self.duration = duration
    self.price = price
    self.monthlyPrice = monthlyPrice
    self.currency = currency
  }

  /// Whether the period is at least a year.
  var isYearly: Bool { period.map { $0.months >= 12 } ?? false }

  /// Whether the period is at most a week.
  var isWeekly: Bool { period.map { $0.months == 0 && $0.days <= 7 } ?? false }

  /// The subscription group; a subscription without one is alone in its group.
  var group: String { subscriptionGroupIdentifier ?? productId }
}
