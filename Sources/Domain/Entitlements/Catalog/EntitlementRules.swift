internal import AppStore

/// What the catalog says of one entitlement: all that evaluation has to know of it.
struct EntitlementRules: Hashable, Sendable {
  /// Its name.
  let entitlement: String
  /// The products that give it, by product id.
  let products: [String: EntitlingProduct]
  /// What shared purchases give of it.
  let familySharing: FamilySharingPolicy
  /// What those have of it who got the app before some version.
  let boughtBefore: [LegacyVersionRule]
  /// All products of the app, whatever they give.
  let knownProducts: Set<String>

  /// What evaluation has to know of a product that gives the entitlement.
  struct EntitlingProduct: Hashable, Sendable {
    /// See ``ProductDefinition/duration``.
    let duration: Period?
    let level: AccessLevel
    let operatorGrace: OperatorGrace?
  }

  /// See ``BoughtBeforeVersion``.
  struct LegacyVersionRule: Hashable, Sendable {
    let version: AppVersion
    let level: AccessLevel
  }
}

extension EntitlementRules {
  /// The rules of every entitlement that a product or a version of the app gives, by name.
  static func all(
    _ products: some Collection<ProductDefinition>, _ boughtBefore: [BoughtBeforeVersion],
    _ familySharing: [String: FamilySharingPolicy]
  ) -> [String: EntitlementRules] {
    let names = Set(products.flatMap(\.accessLevels.keys) + boughtBefore.flatMap(\.entitlements.keys))
    let knownProducts = Set(products.map(\.productID))
    var rules: [String: EntitlementRules] = [:]
    for name in names {
      var entitling: [String: EntitlingProduct] = [:]
      for product in products {
        guard let level = product.accessLevels[name] else { continue }
        entitling[product.productID] = EntitlingProduct(
          duration: product.duration, level: level, operatorGrace: product.operatorGrace)
      }
      rules[name] = EntitlementRules(
        entitlement: name, products: entitling, familySharing: familySharing[name] ?? .allow,
        boughtBefore: boughtBefore.compactMap { rule in
          rule.entitlements[name].map { LegacyVersionRule(version: rule.version, level: $0) }
        },
        knownProducts: knownProducts)
    }
    return rules
  }
}
