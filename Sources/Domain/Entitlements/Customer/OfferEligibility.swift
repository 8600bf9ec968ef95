package import AppStore

/// Whether a customer's history allows an offer. Apple checks again when the offer is presented; this check
/// keeps an app from showing an offer that Apple would reject.
package enum OfferEligibility: Hashable, Sendable {
  /// The history allows the offer.
  case eligible
  /// A promotional offer requires a current or past subscription of the app.
  case neverSubscribed
  /// An introductory offer is not for existing subscribers of the group, also while Apple retries a payment.
  case existingSubscriber(transactionID: String)
  /// An introductory offer can be used once per subscription group (WWDC18-705).
  case introductoryOfferUsed(transactionID: String)

  /// The eligibility for a promotional offer.
  package static func promotional(_ facts: CustomerFacts, in app: AppDefinition) -> OfferEligibility {
    facts.transactions.contains { app.type(of: $0) == .autoRenewableSubscription && !$0.isShared }
      ? .eligible : .neverSubscribed
  }

  /// The eligibility for an introductory offer of a product of `group` at `now`: new subscribers, and lapsed ones
  /// who never used one in the group (Apple, Implementing introductory offers in your app).
  package static func introductory(
    _ facts: CustomerFacts, group: String, in app: AppDefinition, at now: Instant
  ) -> OfferEligibility {
    let facts = facts.purchases(in: app)
    let groups = SubscriptionGroups(facts, in: app)
    let own = facts.transactions.indices.filter { index in
      !facts.transactions[index].isShared && groups.group(of: facts.transactions[index]) == group
    }
    return introductory(own, facts, in: app, at: now)
  }

  /// The same for the customer's own transactions of one group, by their indices. Shared purchases used no offer of
  /// this customer, and refunded ones did.
  static func introductory(
    _ own: [Int], _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, at now: Instant
  ) -> OfferEligibility {
    if let current = facts.currentSubscription(own, in: app, at: now) {
      return .existingSubscriber(transactionID: current)
    }
    let used = own.first { facts.transactions[$0].offerType == .introductory }
    return used.map { .introductoryOfferUsed(transactionID: facts.transactions[$0].transactionID) }
      ?? .eligible
  }
}

extension CustomerFacts {
  /// The transaction of a subscription among `indices` that is active, in billing retry or upgraded; `nil` if none is.
  fileprivate func currentSubscription(
    _ indices: [Int], in app: borrowing AppDefinition, at now: Instant
  ) -> String? {
    let products = Set(indices.map { transactions[$0].productID })
    let rules = EntitlementRules.ownership(ofAny: products, in: app)
    for line in Set(indices.map { transactions[$0].originalTransactionID }).sorted() {
      let facts = ofLine(line)
      let status = evaluate(facts, AccessIntervals(facts, rules), at: now)
      if status.isEntitled || status.state == .billingRetry { return status.deciding?.transactionID }
      if let upgraded = facts.upgradedToUnknown(at: now),
        !indices.contains(where: { transactions[$0].purchaseDate > upgraded.purchaseDate })
      {
        return upgraded.transactionID
      }
    }
    return nil
  }

  /// The latest transaction of facts about one line if it was upgraded: the subscription continues with the upgrade, which has
  /// not arrived, unless renewal info says that it ended. `nil` otherwise.
  private func upgradedToUnknown(at now: Instant) -> TransactionFact? {
    guard let latest = latest(of: transactions.indices), let upgraded = transactions[latest].upgradedBy,
      upgraded <= now
    else { return nil }
    let renewal = renewal(of: latest, at: now)
    let hasEnded = renewal.map { $0.expirationIntent != nil && !$0.isInBillingRetry } ?? false
    return hasEnded ? nil : transactions[latest]
  }
}
