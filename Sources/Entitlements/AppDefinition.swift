package import AppStore

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

  /// Changes with everything besides facts and time on which an answer depends: what the catalog says of
  /// entitlements, and ``rulesVersion``. The same in every process on every machine.
  package let fingerprint: UInt64

  /// For each entitlement the products that give it, with the durations that the catalog sets.
  private let givers: [String: [String: Giver]]

  /// An app by all that the catalog says of it. Of two products with one id the later counts.
  package init(
    id: String, identity: AppIdentity, environments: [Environment], products: [ProductDefinition]
  ) {
    self.id = id
    self.identity = identity
    self.environments = environments
    self.products = Dictionary(products.map { ($0.productID, $0) }, uniquingKeysWith: { $1 })
    var givers: [String: [String: Giver]] = [:]
    for product in self.products.values {
      for entitlement in product.entitlements {
        givers[entitlement, default: [:]][product.productID] = Giver(duration: product.duration)
      }
    }
    self.givers = givers
    fingerprint = Fingerprint(givers: givers).value
  }

  /// Every entitlement that some product of the app gives, in alphabetical order.
  package var entitlements: [String] { givers.keys.sorted() }

  /// Whether some product of the app gives `entitlement`.
  package func gives(_ entitlement: String) -> Bool { givers[entitlement] != nil }

  /// The products that give `entitlement`, by product id; `nil` if none does.
  func givers(of entitlement: String) -> [String: Giver]? { givers[entitlement] }
}

/// What evaluation has to know of a product that gives the entitlement in question.
struct Giver: Hashable, Sendable {
  /// See ``ProductDefinition/duration``.
  let duration: Period?
}
