internal import AppStore
internal import Entitlements

extension ProductDefinition {
  /// The keys of a product.
  static let memberNames = [
    "type", "group", "level", "duration", "entitlements", "operator_grace", "price", "currency", "period",
    "monthly_price", "offers",
  ]

  /// Parses a product. `type` is required, and `group` for an auto-renewable subscription, which alone may have a
  /// level, a period, offers and a grace of the operator. `operatorGrace` is that of the app, for products without one.
  init(
    productID: String, _ members: ConfigurationNode.Members, operatorGrace: OperatorGrace?
  ) throws(ConfigurationError) {
    let type = try ProductType(members.required("type"))
    let isSubscription = type == .autoRenewableSubscription
    for name in ["group", "level", "period", "monthly_price", "operator_grace", "offers"]
    where !isSubscription {
      if let node = members[name] {
        try node.report("\(node.name): only an Auto-Renewable Subscription has \(name)")
      }
    }
    if isSubscription { try members.require("group") }
    let duration = try members.part(catalogDuration(members, type))
    let grace = try members.part(OperatorGrace.of(members["operator_grace"], or: operatorGrace))
    self.init(
      productID: productID, type: type, subscriptionGroup: try members.part(members["group"]?.text()),
      level: try members.part(members["level"].map(levelNumber)), duration: duration,
      accessLevels: try members.part(levels(members["entitlements"], type)) ?? [:],
      operatorGrace: isSubscription ? grace : nil,
      offers: try members.part(members["offers"].map(offerIDs)) ?? [],
      price: try members.part(subscriptionPrice(members)))
  }
}

/// Parses `[stay50, back3]`, the identifiers of promotional offers.
private func offerIDs(_ node: ConfigurationNode) throws(ConfigurationError) -> [String] {
  var offers: [String] = []
  for item in try node.list() {
    let offer = try item.text()
    guard !offer.isEmpty, !offers.contains(offer) else {
      throw item.error("\(item.name): '\(offer)' is empty or listed twice")
    }
    offers.append(offer)
  }
  return offers
}

/// The price that advice calculates with; `nil` unless price, currency and period are given.
private func subscriptionPrice(
  _ members: ConfigurationNode.Members
) throws(ConfigurationError) -> SubscriptionPrice? {
  guard let price = try members["price"].map(milliunits),
    let currency = try members["currency"].map(SaleTerms.currency),
    let period = try members["period"].map(Period.init)
  else { return nil }
  return SubscriptionPrice(milliunits: price, currency: currency, period: period)
}

/// Parses the level in a subscription group, 1 to 1000; level 1 is the highest, as in App Store Connect.
private func levelNumber(_ node: ConfigurationNode) throws(ConfigurationError) -> Int {
  let number = try node.number()
  guard (1...1000).contains(number) else { throw node.error("\(node.name) is not between 1 and 1000") }
  return Int(number)
}

/// Parses `duration`: required if Apple signs no expiry date for the type, forbidden if Apple does.
private func catalogDuration(
  _ members: ConfigurationNode.Members, _ type: ProductType
) throws(ConfigurationError) -> Period? {
  switch type {
  case .nonRenewingSubscription: return try Period(members.required("duration"))
  case .nonConsumable: return try members["duration"].map(Period.init)
  case .autoRenewableSubscription, .consumable, .unrecognized:
    guard let node = members["duration"] else { return nil }
    throw node.error("\(node.name): a product of type \(type.rawValue) cannot have a duration")
  }
}

/// Parses `entitlements`, which a consumable cannot have: it is used up, and grants no access.
private func levels(
  _ node: ConfigurationNode?, _ type: ProductType
) throws(ConfigurationError) -> [String: AccessLevel] {
  guard let node else { return [:] }
  let levels = try AccessLevel.byEntitlement(node)
  guard type == .consumable, !levels.isEmpty else { return levels }
  throw node.error("\(node.name): a Consumable grants no entitlement")
}

extension ProductType {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let text = try node.text()
    guard let type = Self.known.first(where: { $0.rawValue == text }) else {
      let known = Self.known.map(\.rawValue).joined(separator: ", ")
      throw node.error("unknown product type '\(text)'; known: \(known)")
    }
    self = type
  }
}

extension Period {
  /// Parses a duration in years, months, weeks and days (ISO 8601), such as `P1M`.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    guard let period = Period(try node.text()) else {
      throw node.error("\(node.name) is not a duration such as P1M, P1Y, P2W or P90D")
    }
    self = period
  }
}

extension SaleTerms {
  /// Parses the terms of a product. All are optional, but `price` needs `currency`.
  init(_ members: ConfigurationNode.Members) throws(ConfigurationError) {
    price = try members.part(members["price"].map(milliunits))
    currency = try members.part(members["currency"].map(Self.currency))
    period = try members.part(members["period"].map(Period.init))
    if let node = members["price"], members["currency"] == nil {
      try node.report("\(node.name) requires a currency")
    }
    monthlyPrice = try members.part(members["monthly_price"].map(milliunits))
    try checkMonthlyPrice(members)
  }

  /// App Store Connect has the monthly plan only for products of one year, and only at one to one and a half times their
  /// price.
  private func checkMonthlyPrice(_ members: ConfigurationNode.Members) throws(ConfigurationError) {
    guard let node = members["monthly_price"], let monthlyPrice else { return }
    guard period != nil || members["period"] == nil, price != nil || members["price"] == nil else { return }
    guard let period, period.months == 12, period.days == 0 else {
      throw node.error("\(node.name) requires a period of one year")
    }
    guard let price else { throw node.error("\(node.name) requires a price") }
    guard (price...(price * 3 / 2)).contains(monthlyPrice * 12) else {
      throw node.error("\(node.name): twelve payments must cost 1 to 1.5 times the price")
    }
  }

  /// Parses three capital letters. Whether ISO 4217 has the code is not checked.
  fileprivate static func currency(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let text = try node.text()
    guard text.utf8.count == 3, text.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains)
    else { throw node.error("\(node.name) is not a currency code such as USD") }
    return text
  }
}

/// Parses a price such as `4.99`, with at most three decimals and twelve digits before them, into thousandths, without
/// floating-point arithmetic.
private func milliunits(_ node: ConfigurationNode) throws(ConfigurationError) -> Int64 {
  let parts = try node.text().split(separator: ".", omittingEmptySubsequences: false)
  let decimals = parts.count == 2 ? parts[1] : ""
  let digits = (parts.first ?? "") + decimals + String(repeating: "0", count: max(0, 3 - decimals.count))
  guard parts.count <= 2, parts.count == 1 || !decimals.isEmpty, decimals.count <= 3,
    (4...15).contains(digits.count), digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
    let number = Int64(digits)
  else { throw node.error("\(node.name) is not a price such as 4.99, with at most three decimals") }
  return number
}
