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

  init(id: String, _ node: ConfigurationNode) throws(ConfigurationError) {
    let app = ConfigurationNode(renaming: node, "app \(id)")
    let members = try app.members(Self.memberNames)
    let environments = try Self.environments(members.required("environments"))
    let appleID = try members["apple_id"]?.number()
    guard appleID != nil || !environments.contains(.production) else {
      throw app.error("app \(id) has no apple_id, which Production requires")
    }

    let (products, terms) = try Self.products(
      members.required("products"), operatorGrace: OperatorGrace.of(members["operator_grace"], or: nil))
    self.terms = terms
    key = try members["in_app_purchase_key"].map(InAppPurchaseKey.init)
    let deviceCheck = try members["device_check"]?.members(DeviceCheckKey.names + ["trial_once_per_device"])
    deviceCheckKey = try deviceCheck.flatMap { members throws(ConfigurationError) in
      let isGiven = DeviceCheckKey.names.contains { members[$0] != nil }
      return isGiven ? try DeviceCheckKey(members) : nil
    }
    servers = try Self.servers(members["app_store_servers"])
    sharedSecret = try members["shared_secret"].map(SecretSource.init)
    checksOfferEligibility = try members["check_offer_eligibility"]?.flag() ?? true
    onlineChecks = try members["online_checks"].map(OnlineCheckPolicy.init) ?? .off
    receipts = try members["receipts"].map(ReceiptConfiguration.init) ?? ReceiptConfiguration()
    pollsStatuses = try members["status_polling"]?.flag() ?? true
    repairsGaps = try members["gap_repair"]?.flag() ?? true
    fullPollInterval = try members["full_poll_interval"].map(Period.init)
    webhooks = try WebhookConfiguration.webhooks(members["webhooks"])
    forwardings = try WebhookConfiguration.forwardings(members["forward_notifications"])
    revenueCatEvents = try members["revenuecat_events"].map(RevenueCatEventsConfiguration.init)
    let boughtBefore = try members["bought_before_version"].map(BoughtBeforeVersion.rules) ?? []
    let entitlements = Set(
      products.flatMap(\.entitlements) + boughtBefore.flatMap { Array($0.entitlements.keys) })
    let segments = try members["segments"]?.entries().map(\.key) ?? []
    let references = RetentionReferences(
      products: Dictionary(products.map { ($0.productID, $0) }, uniquingKeysWith: { $1 }),
      segments: Set(segments), canSign: key != nil)
    definition = AppDefinition(
      id: id,
      identity: AppIdentity(bundleID: try members.required("bundle_id").text(), appAppleID: appleID),
      environments: environments, products: products, boughtBefore: boughtBefore,
      familySharing: try FamilySharingPolicy.byEntitlement(
        members["family_sharing"], known: entitlements.sorted()),
      retention: try members["retention_messaging"].map { node throws(ConfigurationError) in
        try RetentionPolicy(node, references)
      },
      renewalPolicy: try RenewalPolicy(members),
      ownershipPolicy: try members["ownership_policy"].map(OwnershipPolicy.init) ?? .keep,
      customerFromAppAccountToken: try members["customer_from_app_account_token"]?.flag() ?? false,
      fulfillmentSince: try members["fulfillment_since"].map { node throws(ConfigurationError) in
        try node.instant()
      },
      consumptionPolicy: try members["consumption_requests"].map(ConsumptionPolicy.init) ?? .manual,
      rescindConsent: try members["rescind_consent"].map(RescindConsentPolicy.init) ?? .notify,
      rescindConsentDays: try members["rescind_consent_days"]?.number(in: 1...365) ?? 30,
      deviceSync: try members["device_sync"].map(DeviceSyncPolicy.init),
      trialBit: try deviceCheck?["trial_once_per_device"].map(DeviceBit.init),
      reports: try members["reports"].map(ReportPolicy.init) ?? .standard,
      segments: try SegmentFilter.byName(members["segments"], entitlements: entitlements))
  }

  private static func products(
    _ node: ConfigurationNode, operatorGrace: OperatorGrace?
  ) throws(ConfigurationError) -> ([ProductDefinition], [String: SaleTerms]) {
    var products: [ProductDefinition] = []
    var terms: [String: SaleTerms] = [:]
    for (productID, node) in try node.entries() {
      let product = ConfigurationNode(renaming: node, "product \(productID)")
      let members = try product.members(ProductDefinition.memberNames)
      let definition = try ProductDefinition(productID: productID, members, operatorGrace: operatorGrace)
      products.append(definition)
      terms[productID] = try SaleTerms(members, definition)
    }
    return (products, terms)
  }

  static func servers(
    _ node: ConfigurationNode?
  ) throws(ConfigurationError) -> [Environment: String] {
    var servers: [Environment: String] = [:]
    for (name, node) in try node?.entries() ?? [] {
      guard let environment = Environment(rawValue: name) else {
        throw node.error("unknown environment '\(name)'")
      }
      let url = try node.text()
      guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
        throw node.error("'\(url)' does not start with https:// or http://")
      }
      servers[environment] = url
    }
    return servers
  }

  private static func environments(
    _ node: ConfigurationNode
  ) throws(ConfigurationError) -> [Environment] {
    var environments: [Environment] = []
    for item in try node.list() {
      let environment = try Environment(item)
      guard !environments.contains(environment) else {
        throw item.error("'\(environment.rawValue)' is listed twice")
      }
      environments.append(environment)
    }
    guard !environments.isEmpty else { throw node.error("\(node.name) is empty") }
    return environments
  }
}

extension Environment {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let text = try node.text()
    guard let environment = Environment(rawValue: text) else {
      let known = Environment.allCases.map(\.rawValue).joined(separator: ", ")
      throw node.error("unknown environment '\(text)'; known: \(known)")
    }
    self = environment
  }
}

extension DeviceBit {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    guard let bit = DeviceBit(rawValue: try node.text()) else {
      throw node.error("\(node.name) is not one of \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    self = bit
  }
}

extension ConfigurationNode {
  /// Parses a time in RFC 3339.
  func instant() throws(ConfigurationError) -> Instant {
    let text = try text()
    guard let instant = Instant(rfc3339: text) else { throw error("'\(text)' is not a time in RFC 3339") }
    return instant
  }
}
