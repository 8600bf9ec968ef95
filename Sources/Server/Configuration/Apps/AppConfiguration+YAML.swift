internal import AppStore
internal import Entitlements
internal import SignedData

extension AppConfiguration {
  /// The keys in the order in which an error names them: the required ones first.
  private static let memberNames = [
    "bundle_id", "apple_id", "environments", "products",
    "app_store_servers", "bought_before_version", "check_offer_eligibility", "clock_tolerance",
    "consumption_requests", "customer_from_app_account_token", "device_check", "device_sync",
    "family_sharing", "forward_notifications", "fulfillment_since", "full_poll_interval", "gap_repair",
    "grace_entitlements", "in_app_purchase_key", "online_checks", "operator_grace", "ownership_policy",
    "receipts", "renewal_slack", "reports", "rescind_consent", "rescind_consent_days",
    "retention_messaging", "revenuecat_events", "segments", "shared_secret", "status_polling", "webhooks",
  ]

  /// Apple's ids of apps have ten digits today.
  private static let greatestAppleID: Int64 = 999_999_999_999

  /// Parses one app. `bundle_id`, `environments` and `products` are required, and `apple_id` for Production, because
  /// Apple's documents name the app by it there.
  ///
  /// In a complete check, what refers to the products is parsed only if they have no errors, so that one wrong product
  /// does not cause an error in each section that names it.
  init(id: String, _ node: ConfigurationNode) throws(ConfigurationError) {
    let app = ConfigurationNode(renaming: node, "app \(id)")
    try app.require(name: id)
    // The name of a folder of uploads must not lead out of it.
    if id.hasPrefix(".") { throw app.error("app name '\(id)' starts with a dot") }
    let members = try app.members(Self.memberNames)
    let environments =
      try members.part(Self.environments(members.required("environments"))) ?? []
    let appleID = try members.part(members["apple_id"]?.number(in: 1...Self.greatestAppleID))
    if members["apple_id"] == nil, environments.contains(.production) {
      try app.report("app \(id) has no apple_id, which Production requires")
    }
    let bundleID = try members.part(members.required("bundle_id").text()) ?? ""

    let found = app.problemCount
    let grace = try members.part(OperatorGrace.of(members["operator_grace"], or: nil))
    let (products, terms) =
      try members.part(Self.products(members.required("products"), operatorGrace: grace)) ?? ([], [:])
    self.terms = terms
    let boughtBefore = try members.part(members["bought_before_version"].map(BoughtBeforeVersion.rules)) ?? []
    // References to products are checked only if the products have no errors.
    let areProductsValid = app.problemCount == found
    let deviceCheck = try members.part(
      members["device_check"]?.members(DeviceCheckKey.names + ["trial_once_per_device"]))
    deviceCheckKey = try members.part(Self.deviceCheckKey(deviceCheck))
    key = try members.part(members["in_app_purchase_key"].map(InAppPurchaseKey.init))
    servers = try members.part(Self.servers(members["app_store_servers"])) ?? [:]
    sharedSecret = try members.part(members["shared_secret"].map(SecretSource.init))
    checksOfferEligibility = try members.part(members["check_offer_eligibility"]?.flag()) ?? true
    onlineChecks = try members.part(members["online_checks"]?.choice()) ?? .off
    receipts =
      try members.part(members["receipts"].map(ReceiptConfiguration.init)) ?? ReceiptConfiguration()
    pollsStatuses = try members.part(members["status_polling"]?.flag()) ?? true
    repairsGaps = try members.part(members["gap_repair"]?.flag()) ?? true
    fullPollInterval = try members.part(members["full_poll_interval"].map(Period.init))
    webhooks = try members.part(WebhookConfiguration.webhooks(members["webhooks"])) ?? []
    forwardings =
      try members.part(WebhookConfiguration.forwardings(members["forward_notifications"])) ?? []
    revenueCatEvents = try members.part(
      members["revenuecat_events"].map(RevenueCatEventsConfiguration.init))
    definition = try AppDefinition(
      id: id, identity: AppIdentity(bundleID: bundleID, appAppleID: appleID), environments: environments,
      products: products, boughtBefore: boughtBefore, members, checksProducts: areProductsValid,
      trialBit: members.part(deviceCheck?["trial_once_per_device"]?.choice()))
  }

  /// The key of `device_check`; `nil` if the section has none of its members, and the policy of trials only.
  private static func deviceCheckKey(
    _ members: ConfigurationNode.Members?
  ) throws(ConfigurationError) -> DeviceCheckKey? {
    guard let members, DeviceCheckKey.names.contains(where: { members[$0] != nil }) else { return nil }
    return try DeviceCheckKey(members)
  }

  /// The products with their terms of sale, by product id. A complete check leaves out the products with errors.
  private static func products(
    _ node: ConfigurationNode, operatorGrace: OperatorGrace?
  ) throws(ConfigurationError) -> ([ProductDefinition], [String: SaleTerms]) {
    var products: [ProductDefinition] = []
    var terms: [String: SaleTerms] = [:]
    for (productID, node) in try node.entries() {
      let product = ConfigurationNode(renaming: node, "product \(productID)")
      guard let members = try product.part(product.members(ProductDefinition.memberNames)) else { continue }
      let definition = try product.part(
        ProductDefinition(productID: productID, members, operatorGrace: operatorGrace))
      if let definition { products.append(definition) }
      terms[productID] = try product.part(SaleTerms(members))
    }
    return (products, terms)
  }

  /// Parses URLs by environment, such as `{Sandbox: http://127.0.0.1:8090}`. `http` is allowed, because only tests and
  /// rehearsals replace Apple's servers.
  static func servers(
    _ node: ConfigurationNode?
  ) throws(ConfigurationError) -> [Environment: String] {
    var servers: [Environment: String] = [:]
    for (name, node) in try node?.entries() ?? [] {
      guard let environment = Environment(rawValue: name) else {
        throw node.error("unknown environment '\(name)'")
      }
      servers[environment] = try node.url(such: "https://example.com").text
    }
    return servers
  }

  /// The environments in the order of the file, whose first one is the default of requests. An empty list and a
  /// repeated one are errors.
  private static func environments(
    _ node: ConfigurationNode
  ) throws(ConfigurationError) -> [Environment] {
    var environments: [Environment] = []
    for environment in try node.values(Environment.init) {
      guard !environments.contains(environment) else {
        throw node.error("'\(environment.rawValue)' is listed twice")
      }
      environments.append(environment)
    }
    if try node.list().isEmpty { throw node.error("\(node.name) is empty") }
    return environments
  }
}

extension Environment {
  /// Parses Apple's name of an environment, such as `Production`.
  init(_ node: ConfigurationNode) throws(ConfigurationError) { self = try node.choice(of: "environment") }
}

extension ConfigurationNode {
  /// Parses a time in RFC 3339.
  func instant() throws(ConfigurationError) -> Instant {
    let text = try text()
    guard let instant = Instant(rfc3339: text) else { throw error("'\(text)' is not a time in RFC 3339") }
    return instant
  }
}
