package import Entitlements

/// One customer with all that is known of it, for those who go through all of them.
package struct CustomerRecord: Hashable, Sendable {
  /// Who it is.
  package let key: CustomerKey
  /// What is known.
  package let facts: CustomerFacts

  /// A customer and its facts.
  package init(key: CustomerKey, facts: CustomerFacts) {
    self.key = key
    self.facts = facts
  }
}
