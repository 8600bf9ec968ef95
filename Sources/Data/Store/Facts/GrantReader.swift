package import AppStore
package import Entitlements

/// Selects grants of an app in one environment.
package struct GrantFilter: Hashable, Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// The environment to search.
  package var environment: Environment
  /// Only grants of this customer; `nil` for all.
  package var customerID: String?
  /// Only purchases in this store; `nil` for all grants.
  package var source: String?
  /// Only grants whose id follows this one; `nil` begins.
  package var after: String?
  /// The maximum number of grants; at least 1.
  package var limit: Int

  package init(appID: String, environment: Environment, limit: Int) {
    self.appID = appID
    self.environment = environment
    self.limit = limit
  }
}

/// A grant with its owner.
package struct OwnedGrant: Hashable, Sendable {
  /// The grant.
  package let fact: GrantFact
  /// Its owner.
  package let customer: CustomerKey

  package init(fact: GrantFact, customer: CustomerKey) {
    self.fact = fact
    self.customer = customer
  }
}

/// Reads grants.
package protocol GrantReader {
  /// Returns the grants that match, in the order of their ids as text.
  func grants(_ filter: GrantFilter) throws(StoreError) -> [OwnedGrant]
}
