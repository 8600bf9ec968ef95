internal import AppStore

/// The subscription group of each transaction of a customer.
///
/// The catalog names groups, Apple numbers them. A product that is no longer in the catalog is matched by the
/// number of other products of the group.
package struct SubscriptionGroups: Sendable {
  private let names: [String: String]
  private let products: [String: ProductDefinition]

  /// Learns the numbers of groups from transactions of products that the catalog has.
  package init(_ facts: borrowing CustomerFacts, in app: borrowing AppDefinition) {
    var names: [String: String] = [:]
    for index in facts.transactions.indices {
      // Most transactions have those of the one before.
      if index > 0,
        facts.transactions[index].subscriptionGroupID == facts.transactions[index - 1].subscriptionGroupID,
        facts.transactions[index].productID == facts.transactions[index - 1].productID
      {
        continue
      }
      guard let number = facts.transactions[index].subscriptionGroupID,
        let name = app.products[facts.transactions[index].productID]?.subscriptionGroup
      else { continue }
      names[number] = name
    }
    self.names = names
    products = app.products
  }

  /// The group's name, or Apple's `subscriptionGroupIdentifier` if the catalog has no product of it; `nil`
  /// unless the transaction is of an auto-renewable subscription.
  package func group(of transaction: borrowing TransactionFact) -> String? {
    guard transaction.type == .autoRenewableSubscription else { return nil }
    if let name = products[transaction.productID]?.subscriptionGroup { return name }
    return transaction.subscriptionGroupID.map { names[$0] ?? $0 }
  }

  /// The groups of the catalog and of the customer's purchases, in alphabetical order.
  func all(_ facts: borrowing CustomerFacts) -> [String] {
    var groups = Set(products.values.compactMap(\.subscriptionGroup))
    for index in facts.transactions.indices {
      if let group = group(of: facts.transactions[index]) { groups.insert(group) }
    }
    return groups.sorted()
  }
}
