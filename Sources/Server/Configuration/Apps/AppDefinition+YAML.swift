internal import AppStore
internal import Entitlements

extension AppDefinition {
  /// Parses the members of an app that refer to its products, and its policies. Without `checksProducts`, the products
  /// have errors, and what refers to them is not parsed.
  init(
    id: String, identity: AppIdentity, environments: [Environment], products: [ProductDefinition],
    boughtBefore: [BoughtBeforeVersion], _ members: ConfigurationNode.Members, checksProducts: Bool,
    trialBit: DeviceBit?
  ) throws(ConfigurationError) {
    let known: (String) -> ConfigurationNode? = { checksProducts ? members[$0] : nil }
    let entitlements = Set(
      products.flatMap(\.entitlements) + boughtBefore.flatMap { Array($0.entitlements.keys) })
    let familySharing = try members.part(
      FamilySharingPolicy.byEntitlement(known("family_sharing"), known: entitlements.sorted()))
    let segments = try members.part(SegmentFilter.byName(known("segments"), entitlements: entitlements))
    let retention = try members.part(
      known("retention_messaging").map { node throws(ConfigurationError) in
        try RetentionPolicy(
          node,
          RetentionReferences(
            products: Dictionary(products.map { ($0.productID, $0) }, uniquingKeysWith: { $1 }),
            segments: Set((try members["segments"]?.entries() ?? []).map(\.key)),
            canSign: members["in_app_purchase_key"] != nil))
      })
    let ownership: OwnershipPolicy? = try members.part(members["ownership_policy"]?.choice())
    let customerFromToken = try members.part(members["customer_from_app_account_token"]?.flag())
    let rescindConsent: RescindConsentPolicy? = try members.part(members["rescind_consent"]?.choice())
    let rescindConsentDays = try members.part(members["rescind_consent_days"]?.number(in: 1...365))
    let consumption = try members.part(members["consumption_requests"].map(ConsumptionPolicy.init))
    self.init(
      id: id, identity: identity, environments: environments, products: products,
      boughtBefore: boughtBefore, familySharing: familySharing ?? [:], retention: retention,
      renewalPolicy: try members.part(RenewalPolicy(members)) ?? .standard,
      ownershipPolicy: ownership ?? .keep, customerFromAppAccountToken: customerFromToken ?? false,
      fulfillmentSince: try members.part(members["fulfillment_since"]?.instant()),
      consumptionPolicy: consumption ?? .manual, rescindConsent: rescindConsent ?? .notify,
      rescindConsentDays: rescindConsentDays ?? 30,
      deviceSync: try members.part(members["device_sync"].map(DeviceSyncPolicy.init)), trialBit: trialBit,
      reports: try members.part(members["reports"].map(ReportPolicy.init)) ?? .standard,
      segments: segments ?? [:])
  }
}

extension DeviceSyncPolicy {
  private static let defaultInstallations: Int64 = 10

  /// Parses `device_sync` of an app: `max_installations`, 1 to 1,000 and by default 10, and `over_limit`, by default a
  /// refusal.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["max_installations", "over_limit"])
    let count = try members["max_installations"]?.number(in: 1...1_000) ?? Self.defaultInstallations
    self.init(maxInstallations: Int(count), excess: try members["over_limit"]?.choice() ?? .refuse)
  }
}
