internal import AppStore

/// Whether a customer's history allows an offer. Apple checks again when the offer is presented; this check
/// keeps an app from showing an offer that Apple would reject.
package enum OfferEligibility: Hashable, Sendable {
  /// The history allows the offer.
  case eligible
  /// A promotional offer requires a current or past subscription of the app.
  case neverSubscribed
  /// An introductory offer can be used once per subscription group (WWDC18-705).
  case introductoryOfferUsed(transactionID: String)

  /// The eligibility for a promotional offer.
  package static func promotional(_ facts: CustomerFacts) -> OfferEligibility {
    facts.ownSubscriptions.isEmpty ? .neverSubscribed : .eligible
  }

  /// The eligibility for an introductory offer of a product of `group`.
  package static func introductory(
    _ facts: CustomerFacts, group: String, in app: AppDefinition
  ) -> OfferEligibility {
    let subscriptions = facts.ownSubscriptions
    let isOfGroup = { (productID: String) in app.products[productID]?.subscriptionGroup == group }
    // Products that are no longer in the catalog are matched by Apple's `subscriptionGroupIdentifier`.
    let numbers = Set(subscriptions.filter { isOfGroup($0.productID) }.compactMap(\.subscriptionGroupID))
    let used = subscriptions.first { transaction in
      transaction.offerType == .introductory
        && (isOfGroup(transaction.productID) || transaction.subscriptionGroupID.map(numbers.contains) == true)
    }
    return used.map { .introductoryOfferUsed(transactionID: $0.transactionID) } ?? .eligible
  }
}

extension CustomerFacts {
  /// The subscription periods that the customer purchased, refunded ones included. Shared purchases used no
  /// offer of this customer.
  fileprivate var ownSubscriptions: [TransactionFact] {
    transactions.filter { $0.type == .autoRenewableSubscription && !$0.isShared }
  }
}
