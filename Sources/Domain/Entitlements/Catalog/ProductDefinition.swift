package import AppStore

/// One product of an app, as the operator's catalog describes it.
package struct ProductDefinition: Hashable, Sendable {
  /// Apple's product id, such as `pro.monthly`.
  package let productID: String
  /// The kind of product that the operator set up in App Store Connect.
  package let type: ProductType
  /// The name of the subscription group; `nil` for everything but auto-renewable subscriptions.
  package let subscriptionGroup: String?
  /// The level inside the group; 1 is the highest, as in App Store Connect.
  package let level: Int?
  /// How long one purchase entitles, where Apple gives no expiry: a non-renewing subscription, or a
  /// non-consumable that is a free trial (WWDC18-704). `nil` for everything else.
  package let duration: Period?
  /// How much the product gives of each entitlement that it gives.
  package let accessLevels: [String: AccessLevel]
  /// What goes on while a payment is retried; `nil`: nothing but Apple's grace period.
  package let operatorGrace: OperatorGrace?

  /// The names of what the product gives access to, in alphabetical order.
  package var entitlements: [String] { accessLevels.keys.sorted() }

  /// A product by all that the catalog says of it.
  package init(
    productID: String, type: ProductType, subscriptionGroup: String? = nil, level: Int? = nil,
    duration: Period? = nil, accessLevels: [String: AccessLevel], operatorGrace: OperatorGrace? = nil
  ) {
    self.productID = productID
    self.type = type
    self.subscriptionGroup = subscriptionGroup
    self.level = level
    self.duration = duration
    self.accessLevels = accessLevels
    self.operatorGrace = operatorGrace
  }

  /// A product that gives full access to all that it gives.
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
