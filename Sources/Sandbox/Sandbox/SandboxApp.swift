package import AppStore

/// An app that the simulated App Store sells for.
package struct SandboxApp: Hashable, Sendable {
  /// The operator's name for the app.
  package let id: String
  package let identity: AppIdentity
  package let products: [SandboxProduct]

  package init(id: String, identity: AppIdentity, products: [SandboxProduct]) {
    self.id = id
    self.identity = identity
    self.products = products
  }
}

/// Something an app sells.
package struct SandboxProduct: Hashable, Sendable {
  package let productId: String
  package let type: ProductType
  /// The group of an auto-renewable subscription; `nil` for everything else.
  package let subscriptionGroupIdentifier: String?
  /// The level in the group, 1 the highest; products without one are all on the same.
  package let level: Int
  /// How long one period of an auto-renewable subscription lasts; `nil` for everything else.
  package let period: Period?
  /// How long a subscription without a renewal lasts, as far as the app's developer says; `nil` for everything else.
  package let duration: Period?
  /// In thousandths of the currency.
  package let price: Int64
  /// ISO 4217.
  package let currency: String

  package init(
    productId: String, type: ProductType, subscriptionGroupIdentifier: String? = nil, level: Int = 1,
    period: Period? = nil, duration: Period? = nil, price: Int64 = 0, currency: String = "USD"
  ) {
    self.productId = productId
    self.type = type
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.level = level
    self.period = period
    self.duration = duration
    self.price = price
    self.currency = currency
  }

  /// The group in which a subscription stands; one without a group stands alone.
  var group: String { subscriptionGroupIdentifier ?? productId }
}
