package import AppStore

/// The apps that the service answers for, by the operator's names for them.
package struct Catalog: Hashable, Sendable {
  private let apps: [String: AppDefinition]

  /// A catalog of `apps`. Of two apps with one id the later counts.
  package init(_ apps: [AppDefinition]) {
    self.apps = Dictionary(apps.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
  }

  /// The app that requests call `id`, or `nil` if the operator configured none of that name.
  package subscript(id: String) -> AppDefinition? { apps[id] }

  /// The app of that name; one that was taken out of the configuration sells nothing.
  package func definition(of id: String) -> AppDefinition {
    apps[id]
      ?? AppDefinition(
        id: id, identity: AppIdentity(bundleID: "", appAppleID: nil), environments: [], products: [])
  }

  /// The names of all apps, in alphabetical order.
  package var appIDs: [String] { apps.keys.sorted() }
}

/// One app that the service answers for: who it is, where its purchases may come from, what it sells.
package struct AppDefinition: Hashable, Sendable {
  /// The operator's name for the app; requests name it.
  package let id: String
  /// What Apple calls the app.
  package let identity: AppIdentity
  /// Where purchases may come from. The first one is meant by a request that names none.
  package let environments: [Environment]
  /// The products by their Apple product id.
  package let products: [String: ProductDefinition]
  /// What becomes of a purchase that is handed in for, or linked to, another customer than the one who has
  /// it, where the request leaves it to us. No answer depends on it, only whose facts there are.
  package let ownershipPolicy: OwnershipPolicy

  /// What Apple is told when a customer asks for a refund. No answer depends on it.
  package let consumptionPolicy: ConsumptionPolicy

  /// Changes with everything besides facts and time on which an answer depends: what the catalog says of
  /// products and entitlements, and ``rulesVersion``. The same in every process on every machine.
  package let fingerprint: UInt64

  private let rules: [String: EntitlementRules]

  /// An app by all that the catalog says of it. Of two products with one id the later counts.
  package init(
    id: String, identity: AppIdentity, environments: [Environment], products: [ProductDefinition],
    boughtBefore: [BoughtBeforeVersion] = [], familySharing: [String: FamilySharingPolicy] = [:],
    ownershipPolicy: OwnershipPolicy = .keep, consumptionPolicy: ConsumptionPolicy = .manual
  ) {
    self.id = id
    self.identity = identity
    self.environments = environments
    self.products = Dictionary(products.map { ($0.productID, $0) }, uniquingKeysWith: { $1 })
    self.ownershipPolicy = ownershipPolicy
    self.consumptionPolicy = consumptionPolicy
    rules = EntitlementRules.all(self.products.values, boughtBefore, familySharing)
    fingerprint = Fingerprint(rules: rules, products: self.products.keys.sorted()).value
  }

  /// Every entitlement that the app gives, in alphabetical order.
  package var entitlements: [String] { rules.keys.sorted() }

  /// Whether some product or version of the app gives `entitlement`.
  package func grants(_ entitlement: String) -> Bool { rules[entitlement] != nil }

  /// What the catalog says of `entitlement`; `nil` if nothing gives it.
  func rules(of entitlement: String) -> EntitlementRules? { rules[entitlement] }
}
