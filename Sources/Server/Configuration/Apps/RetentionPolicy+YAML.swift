internal import AppStore
internal import Bytes
internal import Entitlements

/// The names to which the section `retention_messaging` refers.
struct RetentionReferences {
  /// The products of the app by id, of any type.
  let products: [String: ProductDefinition]
  /// The names of the configured segments. Segments that calls save are not known here, so no rule refers to one.
  let segments: Set<String>
  /// Whether the app has an `in_app_purchase_key`, which signs offers.
  let canSign: Bool
}

// The section `retention_messaging` of an app.
extension RetentionPolicy {
  /// The maximum number of rules, so that an answer takes microseconds.
  private static let maxRules = 100

  /// Parses the section: at most 100 rules with different names. The first rule that has an answer for a subscriber
  /// decides, otherwise `default_message`.
  init(_ node: ConfigurationNode, _ known: RetentionReferences) throws(ConfigurationError) {
    let members = try node.members(["default_message", "offer_pause_days", "outcome_days", "rules"])
    var rules: [Rule] = []
    for (index, entry) in (try members["rules"]?.list() ?? []).enumerated() {
      let rule = try Rule(
        ConfigurationNode(renaming: entry, "retention rule \(index + 1)"), known)
      guard !rules.contains(where: { $0.name == rule.name }) else {
        throw entry.error("there are two retention rules '\(rule.name)'")
      }
      rules.append(rule)
    }
    guard rules.count <= Self.maxRules else {
      throw node.error("\(node.name) has more than \(Self.maxRules) rules")
    }
    self.init(
      rules: rules, defaultMessageID: try members["default_message"]?.messageIdentifier(),
      offerPauseDays: try members["offer_pause_days"]?.number(in: 0...3650) ?? Self.standardOfferPauseDays,
      outcomeDays: try members["outcome_days"]?.number(in: 1...90) ?? Self.standardOutcomeDays)
  }
}

extension RetentionPolicy.Rule {
  private static let conditionNames = [
    "product_ids", "subscription_groups", "storefronts", "locales", "payment_modes", "min_tenure_days",
    "max_tenure_days", "min_paid_days", "segments",
  ]

  /// Parses a rule, which needs a `name` and `answers`. A rule that could select no subscription of the app is an
  /// error, because it would never answer.
  fileprivate init(
    _ entry: ConfigurationNode, _ known: RetentionReferences
  ) throws(ConfigurationError) {
    guard let named = try entry.entries().first(where: { $0.key == "name" })?.value else {
      throw entry.error("\(entry.name) has no name")
    }
    let name = try ConfigurationNode(renaming: named, "name of \(entry.name)").text()
    try entry.require(name: name)
    let node = ConfigurationNode(renaming: entry, "retention rule \(name)")
    let members = try node.members(["name", "answers"] + Self.conditionNames)
    let conditions = try RetentionConditions(members, known, of: node)
    let subscriptions = known.products.values.filter { conditions.mayHave($0) }
    guard !subscriptions.isEmpty else { throw node.error("\(node.name) selects no subscription") }
    var choices: [RetentionPolicy.Choice] = []
    for answer in try members.required("answers").list() {
      choices.append(try RetentionPolicy.Choice(answer, known, subscriptions))
    }
    guard !choices.isEmpty else { throw node.error("\(node.name) has no answers") }
    self.init(name: name, conditions: conditions, choices: choices)
  }
}

extension RetentionConditions {
  /// Parses the conditions of a rule. A missing one is met by all customers; an empty list is an error, because it
  /// would look like none.
  fileprivate init(
    _ members: ConfigurationNode.Members, _ known: RetentionReferences, of node: ConfigurationNode
  ) throws(ConfigurationError) {
    self.init()
    let subscriptions = known.products.values.filter { $0.type == .autoRenewableSubscription }
    productIDs =
      try members["product_ids"].map { list throws(ConfigurationError) in
        try list.names(among: subscriptions.map(\.productID), "subscription")
      } ?? []
    subscriptionGroups =
      try members["subscription_groups"].map { list throws(ConfigurationError) in
        try list.names(among: subscriptions.compactMap(\.subscriptionGroup), "subscription group")
      } ?? []
    segments =
      try members["segments"].map { list throws(ConfigurationError) in
        try list.names(among: Array(known.segments), "segment")
      } ?? []
    modes = try Self.modes(members["payment_modes"])
    storefronts =
      try members["storefronts"].map { list throws(ConfigurationError) in
        try list.matching("a storefront such as USA") { text in
          text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        }
      } ?? []
    locales =
      try members["locales"].map { list throws(ConfigurationError) in
        try list.matching("a locale such as en or en-US") { text in
          (2...12).contains(text.utf8.count) && text.utf8.allSatisfy { $0 < 0x80 && $0 > 0x20 }
        }
      } ?? []
    minTenureDays = try members["min_tenure_days"]?.number(in: 1...SegmentFilter.maxDays)
    maxTenureDays = try members["max_tenure_days"]?.number(in: 1...SegmentFilter.maxDays)
    minPaidDays = try members["min_paid_days"]?.number(in: 1...SegmentFilter.maxDays)
    if let minTenureDays, let maxTenureDays, maxTenureDays <= minTenureDays {
      throw node.error("max_tenure_days of \(node.name) is not above min_tenure_days")
    }
  }

  private static func modes(
    _ node: ConfigurationNode?
  ) throws(ConfigurationError) -> Set<EntitlementSubstate> {
    var modes: Set<EntitlementSubstate> = []
    for item in try node?.list() ?? [] { modes.insert(try EntitlementSubstate(mode: item)) }
    return modes
  }

  /// Whether a subscription of the product may meet the conditions.
  fileprivate func mayHave(_ product: ProductDefinition) -> Bool {
    product.type == .autoRenewableSubscription
      && (productIDs.isEmpty || productIDs.contains(product.productID))
      && (subscriptionGroups.isEmpty
        || product.subscriptionGroup.map(subscriptionGroups.contains) ?? false)
  }
}

extension ConfigurationNode {
  /// Apple's identifier of an uploaded message: a UUID.
  fileprivate func messageIdentifier() throws(ConfigurationError) -> String {
    let text = try text()
    guard text.isUUID else { throw error("\(name): '\(text)' is not the UUID of a message") }
    return text.lowercased()
  }

  /// The names of a list, which must be among `known`.
  fileprivate func names(
    among known: [String], _ kind: String
  ) throws(ConfigurationError) -> Set<String> {
    var names: Set<String> = []
    for item in try list() {
      let name = try item.text()
      guard known.contains(name) else {
        let all = Set(known).sorted().joined(separator: ", ")
        throw item.error("unknown \(kind) '\(name)' in \(self.name); known: \(all)")
      }
      names.insert(name)
    }
    guard !names.isEmpty else { throw error("\(name) is empty") }
    return names
  }

  /// The texts of a list. Each must pass `isValid`; `kind` names the expected form in errors.
  fileprivate func matching(
    _ kind: String, _ isValid: (String) -> Bool
  ) throws(ConfigurationError) -> Set<String> {
    var texts: Set<String> = []
    for item in try list() {
      let text = try item.text()
      guard isValid(text) else { throw item.error("'\(text)' in \(name) is not \(kind)") }
      texts.insert(text)
    }
    guard !texts.isEmpty else { throw error("\(name) is empty") }
    return texts
  }
}

extension RetentionPolicy.Choice {
  private static let maxWeight: Int64 = 1_000_000

  /// Parses an answer of a rule that selects `subscriptions`.
  fileprivate init(
    _ entry: ConfigurationNode, _ known: RetentionReferences, _ subscriptions: [ProductDefinition]
  ) throws(ConfigurationError) {
    let node = ConfigurationNode(renaming: entry, "an answer")
    let members = try node.members(["weight", "message", "switch_to", "offer", "nothing"])
    let weight = try members["weight"]?.number(in: 1...Self.maxWeight) ?? 1
    if let nothing = members["nothing"] {
      guard try nothing.flag(), members["message"] == nil, members["switch_to"] == nil,
        members["offer"] == nil
      else { throw node.error("an answer with 'nothing: true' has a weight only") }
      self.init(.nothing, weight: weight)
      return
    }
    let message = try members.required("message").messageIdentifier()
    switch (members["switch_to"], members["offer"]) {
    case (nil, nil): self.init(.message(id: message), weight: weight)
    case (let node?, nil):
      self.init(try RetentionAnswer(switch: node, message, known, subscriptions), weight: weight)
    case (nil, let node?):
      self.init(try RetentionAnswer(offer: node, message, known, subscriptions), weight: weight)
    default: throw node.error("an answer has either switch_to or offer")
    }
  }
}

extension RetentionAnswer {
  /// Parses `switch_to`.
  fileprivate init(
    switch node: ConfigurationNode, _ message: String, _ known: RetentionReferences,
    _ subscriptions: [ProductDefinition]
  ) throws(ConfigurationError) {
    let members = try ConfigurationNode(renaming: node, "switch_to").members(["product", "billing_plan"])
    let product = try Self.product(members.required("product"), known, subscriptions)
    guard subscriptions.contains(where: { $0.productID != product.productID }) else {
      throw node.error("the rule selects the product '\(product.productID)' only, so no one can switch to it")
    }
    var plan: BillingPlanType?
    if let node = members["billing_plan"] {
      let name = try node.text()
      plan = BillingPlanType.known.first { $0.rawValue == name }
      guard plan != nil else {
        let names = BillingPlanType.known.map(\.rawValue).joined(separator: ", ")
        throw node.error("unknown billing plan '\(name)'; known: \(names)")
      }
    }
    self = .alternateProduct(messageID: message, productID: product.productID, plan: plan)
  }

  /// Parses `offer`.
  fileprivate init(
    offer node: ConfigurationNode, _ message: String, _ known: RetentionReferences,
    _ subscriptions: [ProductDefinition]
  ) throws(ConfigurationError) {
    let members = try ConfigurationNode(renaming: node, "offer").members(["id", "product", "signature"])
    guard known.canSign else {
      throw node.error("an offer of a retention rule needs in_app_purchase_key, which signs it")
    }
    let id = try members.required("id").text()
    var product: ProductDefinition?
    if let node = members["product"] { product = try Self.product(node, known, subscriptions) }
    for sold in product.map({ [$0] }) ?? subscriptions.sorted(by: { $0.productID < $1.productID })
    where !sold.offers.contains(id) {
      throw node.error("the offer '\(id)' is not among the offers of the product '\(sold.productID)'")
    }
    self = .promotionalOffer(
      messageID: message, productID: product?.productID, offerID: id,
      form: try members["signature"]?.choice() ?? .jws)
  }

  /// A subscription of the group to which all subscriptions of the rule belong.
  private static func product(
    _ node: ConfigurationNode, _ known: RetentionReferences, _ subscriptions: [ProductDefinition]
  ) throws(ConfigurationError) -> ProductDefinition {
    let id = try node.text()
    guard let product = known.products[id], product.type == .autoRenewableSubscription else {
      throw node.error("'\(id)' is not a subscription of the app")
    }
    if let other = subscriptions.first(where: { $0.subscriptionGroup != product.subscriptionGroup }) {
      throw node.error(
        "the rule selects the product '\(other.productID)', which is not in the subscription group of '\(id)'"
      )
    }
    return product
  }
}
