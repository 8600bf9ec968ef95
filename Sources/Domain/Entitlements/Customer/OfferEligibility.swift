internal import AppStore

/// Whether a customer's history allows an offer. Apple checks it again when the offer is presented; asking
/// here first keeps an app from showing what the customer cannot have.
package enum OfferEligibility: Hashable, Sendable {
  /// Nothing in the history stands against it.
  case eligible
  /// Promotional offers are for those who have or had a subscription of the app.
  case neverSubscribed
  /// An introductory offer is had once in each subscription group (WWDC18-705).
  case introductoryOfferUsed(transactionID: String)

  /// For a promotional offer.
  package static func promotional(_ facts: CustomerFacts) -> OfferEligibility {
    facts.ownSubscriptions.isEmpty ? .neverSubscribed : .eligible
  }

  /// For an introductory offer of a product of `group`.
  package static func introductory(
    _ facts: CustomerFacts, group: String, in app: AppDefinition
  ) -> OfferEligibility {
    let subscriptions = facts.ownSubscriptions
    let isOfGroup = { (productID: String) in app.products[productID]?.subscriptionGroup == group }
    // Products that are no longer in the catalog are known by Apple's number of the group.
    let numbers = Set(subscriptions.filter { isOfGroup($0.productID) }.compactMap(\.subscriptionGroupID))
    let used = subscriptions.first { transaction in
      transaction.offerType == .introductory
        && (isOfGroup(transaction.productID) || transaction.subscriptionGroupID.map(numbers.contains) == true)
    }
    return used.map { .introductoryOfferUsed(transactionID: $0.transactionID) } ?? .eligible
  }
}

extension CustomerFacts {
  /// The periods that the customer subscribed to, refunded ones included. What others share was never
  /// offered to this customer.
  fileprivate var ownSubscriptions: [TransactionFact] {
    transactions.filter { $0.type == .autoRenewableSubscription && !$0.isShared }
  }
}
