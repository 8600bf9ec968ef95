internal import AppStore
internal import Entitlements

extension ProductDefinition {
  /// The names that a product may have in the file.
  static let memberNames = [
    "type", "group", "level", "duration", "entitlements", "operator_grace", "price", "currency", "period",
  ]

  init(
    productID: String, _ members: ConfigurationNode.Members, operatorGrace: OperatorGrace?
  ) throws(ConfigurationError) {
    let type = try ProductType(members.required("type"))
    let isSubscription = type == .autoRenewableSubscription
    for name in ["group", "level", "period", "operator_grace"] where !isSubscription {
      if let node = members[name] {
        throw node.error("\(node.name): only an Auto-Renewable Subscription has \(name)")
      }
    }
    if isSubscription { _ = try members.required("group") }
    self.init(
      productID: productID, type: type, subscriptionGroup: try members["group"]?.text(),
      level: try members["level"].map(levelNumber), duration: try catalogDuration(members, type),
      accessLevels: try levels(members["entitlements"], type),
      operatorGrace: isSubscription ? try OperatorGrace.of(members["operator_grace"], or: operatorGrace) : nil
    )
  }
}

private func levelNumber(_ node: ConfigurationNode) throws(ConfigurationError) -> Int {
  let number = try node.number()
  guard (1...1000).contains(number) else { throw node.error("\(node.name) is not between 1 and 1000") }
  return Int(number)
}

/// Where Apple gives no expiry the catalog has to; where it does, the catalog must not.
private func catalogDuration(
  _ members: ConfigurationNode.Members, _ type: ProductType
) throws(ConfigurationError) -> Period? {
  switch type {
  case .nonRenewingSubscription: return try Period(members.required("duration"))
  case .nonConsumable: return try members["duration"].map(Period.init)
  case .autoRenewableSubscription, .consumable, .unrecognized:
    guard let node = members["duration"] else { return nil }
    throw node.error("\(node.name): a product of type \(type.rawValue) has no duration of the catalog's")
  }
}

private func levels(
  _ node: ConfigurationNode?, _ type: ProductType
) throws(ConfigurationError) -> [String: AccessLevel] {
  guard let node else { return [:] }
  let levels = try AccessLevel.byEntitlement(node)
  guard type == .consumable, !levels.isEmpty else { return levels }
  throw node.error("\(node.name): a Consumable gives no entitlement")
}

extension ProductType {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let text = try node.text()
    guard let type = Self.known.first(where: { $0.rawValue == text }) else {
      let known = Self.known.map(\.rawValue).joined(separator: ", ")
      throw node.error("there is no product type \(text.debugDescription); known: \(known)")
    }
    self = type
  }
}

extension Period {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    guard let period = Period(try node.text()) else {
      throw node.error("\(node.name) is not a duration such as P1M, P1Y, P2W or P90D")
    }
    self = period
  }
}
