internal import AppStore
internal import Entitlements

extension AccessLevel {
  /// Parses `[pro, plus]`, which grants full access, or `{pro: limited, plus: full}`.
  static func byEntitlement(_ node: ConfigurationNode) throws(ConfigurationError) -> [String: AccessLevel] {
    var levels: [String: AccessLevel] = [:]
    if node.isList {
      for item in try node.list() {
        let name = try item.text()
        guard levels.updateValue(.full, forKey: name) == nil else {
          throw item.error("\(item.name): '\(name)' is listed twice")
        }
      }
      return levels
    }
    guard !node.isScalar else { throw node.error("\(node.name) is neither a list nor a mapping") }
    for (name, value) in try node.entries() {
      levels[name] = try AccessLevel(ConfigurationNode(renaming: value, "\(name) in \(node.name)"))
    }
    return levels
  }

  /// Parses `full` or `limited`; no product grants the level `none`.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    switch try node.text() {
    case "full": self = .full
    case "limited": self = .limited
    default: throw node.error("\(node.name) is neither full nor limited")
    }
  }
}

extension OperatorGrace {
  /// Parses `node`, where 0 days mean `nil`; returns `other` if there is no node.
  static func of(
    _ node: ConfigurationNode?, or other: OperatorGrace?
  ) throws(ConfigurationError) -> OperatorGrace? {
    guard let node else { return other }
    return try OperatorGrace(node)
  }

  /// Parses `{days: 3, access: limited}`: 0 to 60 days, and full access by default; `nil` for 0 days, with which a
  /// product turns the grace of its app off.
  private init?(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["days", "access"])
    let days = try members.required("days").number()
    // Apple retries a failed renewal for 60 days.
    guard (0...60).contains(days) else { throw node.error("days of \(node.name) is not between 0 and 60") }
    let access = try members["access"].map(AccessLevel.init) ?? .full
    guard days > 0 else { return nil }
    self.init(days: days, access: access)
  }
}

extension FamilySharingPolicy {
  /// Parses `{pro: allow, plus: deny}`, whose keys are known entitlements.
  static func byEntitlement(
    _ node: ConfigurationNode?, known: [String]
  ) throws(ConfigurationError) -> [String: FamilySharingPolicy] {
    guard let node else { return [:] }
    var policies: [String: FamilySharingPolicy] = [:]
    for (name, value) in try node.entries() {
      guard known.contains(name) else {
        throw value.error(
          "\(node.name): no product grants the entitlement '\(name)'; known: \(known.joined(separator: ", "))"
        )
      }
      guard let policy = FamilySharingPolicy(rawValue: try value.text()) else {
        throw value.error("\(name) in \(node.name) is not one of allow, limited, deny")
      }
      policies[name] = policy
    }
    return policies
  }
}

extension PurchasePlatform {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let platform = PurchasePlatform(rawValue: try node.text())
    guard Self.known.contains(platform) else {
      let known = Self.known.map(\.rawValue).joined(separator: ", ")
      throw node.error("\(node.name) is not one of \(known)")
    }
    self = platform
  }
}

extension BoughtBeforeVersion {
  /// Parses one rule `{version: "3.0", platform: macOS, entitlements: [pro]}` or a list of rules.
  static func rules(_ node: ConfigurationNode) throws(ConfigurationError) -> [BoughtBeforeVersion] {
    guard node.isList else { return [try BoughtBeforeVersion(node)] }
    var rules: [BoughtBeforeVersion] = []
    for item in try node.list() { rules.append(try BoughtBeforeVersion(item)) }
    return rules
  }

  /// Parses one rule. `version` and `entitlements` are required; without `platform`, a purchase on any platform counts.
  private init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["version", "platform", "entitlements"])
    let text = try members.required("version").text()
    guard let version = AppVersion(text) else {
      throw try members.required("version").error("version of \(node.name) is not a version such as 3.0")
    }
    self.init(
      version: version, platform: try members["platform"].map(PurchasePlatform.init),
      entitlements: try AccessLevel.byEntitlement(members.required("entitlements")))
  }
}
