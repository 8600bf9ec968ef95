internal import AppStore

/// The catalog's rules for one entitlement: all that evaluation reads of the catalog.
struct EntitlementRules: Hashable, Sendable {
  let entitlement: String
  /// The products that grant it, by product id.
  let products: [String: EntitlingProduct]
  /// The access that purchases shared by a family member grant.
  let familySharing: FamilySharingPolicy
  /// The access of customers who got the app before a given version.
  let boughtBefore: [LegacyVersionRule]
  /// Whether access ends when a parent or guardian withdraws the consent; see ``RescindConsentPolicy``.
  var endsAccessOnRescindedConsent = false
  /// The ids of all products of the app, whether or not they grant this entitlement.
  let knownProducts: Set<String>
  let renewal: RenewalPolicy

  /// The part of a ``ProductDefinition`` that evaluation reads.
  struct EntitlingProduct: Hashable, Sendable {
    /// See ``ProductDefinition/duration``.
    let duration: Period?
    let level: AccessLevel
    let operatorGrace: OperatorGrace?
  }

  /// See ``BoughtBeforeVersion``.
  struct LegacyVersionRule: Hashable, Sendable {
    let version: AppVersion
    let platform: PurchasePlatform?
    let level: AccessLevel
  }
}

extension EntitlementRules {
  /// The legacy version rules for app installs from a platform: those that name it, or, if none does, those without one.
  func versionRules(on platform: PurchasePlatform?) -> [LegacyVersionRule] {
    let named = boughtBefore.filter { $0.platform != nil && $0.platform == platform }
    return named.isEmpty ? boughtBefore.filter { $0.platform == nil } : named
  }

  /// Returns the rules of every entitlement that a product or a legacy version rule grants, by entitlement.
  static func all(
    _ products: some Collection<ProductDefinition>, _ boughtBefore: [BoughtBeforeVersion],
    _ familySharing: [String: FamilySharingPolicy], _ renewal: RenewalPolicy,
    _ rescindConsent: RescindConsentPolicy
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
          rule.entitlements[name].map {
            LegacyVersionRule(version: rule.version, platform: rule.platform, level: $0)
          }
        },
        endsAccessOnRescindedConsent: rescindConsent == .endAccess, knownProducts: knownProducts,
        renewal: renewal)
    }
    return rules
  }
}
