internal import AppStore

/// Which subscription group each of a customer's transactions belongs to.
///
/// The catalog names groups, and Apple numbers them; a product that the catalog no longer has is known by
/// the number that a product of the group still has.
struct SubscriptionGroups {
  private let names: [String: String]
  private let catalog: [String: String]

  init(_ facts: borrowing CustomerFacts, in app: borrowing AppDefinition) {
    let catalog = app.products.compactMapValues(\.subscriptionGroup)
    var names: [String: String] = [:]
    for index in facts.transactions.indices {
      guard let number = facts.transactions[index].subscriptionGroupID,
        let name = catalog[facts.transactions[index].productID]
      else { continue }
      names[number] = name
    }
    self.names = names
    self.catalog = catalog
  }

  /// The group's name, or Apple's number if the catalog has no product of it; `nil` if it is in no group.
  func group(of transaction: borrowing TransactionFact) -> String? {
    guard transaction.type == .autoRenewableSubscription else { return nil }
    if let name = catalog[transaction.productID] { return name }
    return transaction.subscriptionGroupID.map { names[$0] ?? $0 }
  }

  /// The groups of the catalog, and those that the customer has bought from, in alphabetical order.
  func all(_ facts: borrowing CustomerFacts) -> [String] {
    var groups = Set(catalog.values)
    for index in facts.transactions.indices {
      if let group = group(of: facts.transactions[index]) { groups.insert(group) }
    }
    return groups.sorted()
  }
}
