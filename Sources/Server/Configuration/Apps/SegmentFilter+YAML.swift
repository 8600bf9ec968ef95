internal import AppStore
internal import Entitlements

extension SegmentFilter {
  private static let memberNames = [
    "states", "product_ids", "subscription_groups", "entitlements", "storefronts", "payment_modes",
    "since_from", "since_before", "min_days_in_state", "max_days_in_state", "ends_within_days",
    "commitment_ends_within_days", "min_paid_days", "needs_price_consent", "has_win_back_offer", "unclaimed",
    "in_app_ownership_types",
  ]

  /// Parses `segments` of an app: saved segments by name, each with the fields of the contract's `SegmentFilter`.
  static func byName(
    _ node: ConfigurationNode?, entitlements: Set<String>
  ) throws(ConfigurationError) -> [String: SegmentFilter] {
    var segments: [String: SegmentFilter] = [:]
    for (name, entry) in try node?.entries() ?? [] {
      let segment = ConfigurationNode(renaming: entry, "segment \(name)")
      try segment.require(name: name)
      segments[name] = try SegmentFilter(segment, known: entitlements)
    }
    guard let node, segments.count > maxConfigured else { return segments }
    throw node.error("\(node.name) has more than \(maxConfigured) segments")
  }

  /// Half of those that an app environment may have, so that calls can save some.
  private static let maxConfigured = 50

  /// Parses the conditions of a segment, all of which a member meets. Values that Apple may add, such as storefronts,
  /// are not checked; names of the catalog are.
  private init(_ node: ConfigurationNode, known: Set<String>) throws(ConfigurationError) {
    self.init()
    let members = try node.members(Self.memberNames)
    states = try Self.set(members["states"]) { item throws(ConfigurationError) in
      let text = try item.text()
      guard let state = SegmentState.selectable.first(where: { $0.name == text }) else {
        let names = SegmentState.selectable.map(\.name).joined(separator: ", ")
        throw item.error("unknown state '\(text)'; known: \(names)")
      }
      return state
    }
    modes = try Self.set(members["payment_modes"]) { item throws(ConfigurationError) in
      try EntitlementSubstate(mode: item)
    }
    ownerships = try Self.set(members["in_app_ownership_types"]) { item throws(ConfigurationError) in
      let type = InAppOwnershipType(rawValue: try item.text())
      guard InAppOwnershipType.known.contains(type) else {
        let names = InAppOwnershipType.known.map(\.rawValue).joined(separator: ", ")
        throw item.error("unknown relation to the purchase '\(type.rawValue)'; known: \(names)")
      }
      return type
    }
    productIDs = try Self.texts(members["product_ids"])
    subscriptionGroups = try Self.texts(members["subscription_groups"])
    storefronts = try Self.texts(members["storefronts"])
    entitlements = try Self.texts(members["entitlements"])
    if let node = members["entitlements"], let unknown = entitlements.subtracting(known).min() {
      throw node.error("unknown entitlement '\(unknown)'; known: \(known.sorted().joined(separator: ", "))")
    }
    sinceFrom = try members["since_from"]?.instant()
    sinceBefore = try members["since_before"]?.instant()
    minDaysInState = try members["min_days_in_state"]?.number(in: 0...Self.maxDays)
    maxDaysInState = try members["max_days_in_state"]?.number(in: 1...Self.maxDays)
    endsWithinDays = try members["ends_within_days"]?.number(in: 1...Self.maxDays)
    commitmentEndsWithinDays = try members["commitment_ends_within_days"]?.number(in: 1...Self.maxDays)
    minPaidDays = try members["min_paid_days"]?.number(in: 1...Self.maxDays)
    needsPriceConsent = try members["needs_price_consent"]?.flag() ?? false
    hasWinBackOffer = try members["has_win_back_offer"]?.flag() ?? false
    isUnclaimed = try members["unclaimed"]?.flag()
  }

  private static func texts(_ node: ConfigurationNode?) throws(ConfigurationError) -> Set<String> {
    try set(node) { item throws(ConfigurationError) in try item.text() }
  }

  private static func set<Value: Hashable>(
    _ node: ConfigurationNode?, _ value: (ConfigurationNode) throws(ConfigurationError) -> Value
  ) throws(ConfigurationError) -> Set<Value> {
    var values: Set<Value> = []
    for item in try node?.list() ?? [] { values.insert(try value(item)) }
    guard let node, values.count > maxValues else { return values }
    throw node.error("\(node.name) has more than \(maxValues) values")
  }
}

extension EntitlementSubstate {
  /// Parses a payment mode.
  init(mode node: ConfigurationNode) throws(ConfigurationError) {
    let text = try node.text()
    guard let mode = Self.allCases.first(where: { $0.modeName == text }) else {
      let names = Self.allCases.map(\.modeName).joined(separator: ", ")
      throw node.error("unknown payment mode '\(text)'; known: \(names)")
    }
    self = mode
  }

  /// The name in the configuration: that of the contract's `PaymentMode` without its prefix.
  fileprivate var modeName: String {
    switch self {
    case .standard: "STANDARD"
    case .freeTrial: "FREE_TRIAL"
    case .introductoryOffer: "INTRODUCTORY_OFFER"
    case .subscriptionOffer: "SUBSCRIPTION_OFFER"
    }
  }
}
