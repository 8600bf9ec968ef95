package import AppStore

/// Everything about one customer at one moment: what to show for each product, which offers they may have,
/// what they own in numbers.
package struct CustomerOverview: Hashable, Sendable {
  /// Every product of the catalog and every other one that was bought, by product id.
  package let products: [ProductOverview]
  /// Every subscription group of the catalog and every other one that was bought from, by name.
  package let groups: [GroupOverview]
  /// The consumables that were bought, by product id.
  package let consumables: [ConsumableBalance]
  /// What the operator gave, also what has ended.
  package let grants: [GrantFact]

  /// What `facts` say at `now`.
  package init(
    _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, at now: Instant
  ) {
    let bought = Dictionary(grouping: facts.transactions.indices) { facts.transactions[$0].productID }
    let productIDs = Set(app.products.keys).union(bought.keys).sorted()
    var products: [ProductOverview] = []
    for productID in productIDs {
      products.append(ProductOverview(productID, bought[productID] ?? [], facts, app, at: now))
    }
    let subscriptionGroups = SubscriptionGroups(facts, in: app)
    var indices: [String: [Int]] = [:]
    for index in facts.transactions.indices {
      guard let group = subscriptionGroups.group(of: facts.transactions[index]) else { continue }
      indices[group, default: []].append(index)
    }
    self.products = products
    groups = subscriptionGroups.all(facts).map { group in
      GroupOverview(group, indices[group] ?? [], facts, products, at: now)
    }
    consumables = ConsumableBalance.all(facts)
    grants = facts.grants
  }
}

/// One customer and one product.
package struct ProductOverview: Hashable, Sendable {
  /// Apple's product id.
  package let productID: String
  /// What it was sold as, or else what the catalog says.
  package let type: ProductType
  /// What to show.
  package let state: ProductState
  /// The newest purchase or period.
  package let latest: TransactionFact?
  /// What becomes of it, if it is a subscription's running or last period.
  package let renewal: RenewalFact?

  init(
    _ productID: String, _ bought: [Int], _ facts: borrowing CustomerFacts,
    _ app: borrowing AppDefinition, at now: Instant
  ) {
    let latest = bought.max {
      let (left, right) = (facts.transactions[$0], facts.transactions[$1])
      return (left.purchaseDate, left.transactionID) < (right.purchaseDate, right.transactionID)
    }
    self.productID = productID
    self.latest = latest.map { facts.transactions[$0] }
    renewal = latest.flatMap { facts.renewal(describing: $0) }.map { facts.renewals[$0] }
    type = self.latest?.type ?? app.products[productID]?.type ?? .unrecognized("")
    let intervals = AccessIntervals(facts, .ownership(of: productID, in: app))
    if intervals.deciding(at: now) != nil {
      state = .active
    } else {
      state = bought.contains { facts.transactions[$0].purchaseDate <= now } ? .inactive : .new
    }
  }
}

/// One customer and one subscription group.
package struct GroupOverview: Hashable, Sendable {
  /// The catalog's name of the group, or Apple's number if the catalog has none.
  package let group: String
  /// What to show: active if one of its products is.
  package let state: ProductState
  /// The product in force; `nil` if none is.
  package let productID: String?
  /// What it renews to; `nil` if nothing is in force or Apple has not said.
  package let autoRenewProductID: String?
  /// Nothing of the group was ever bought with an introductory offer.
  package let isEligibleForIntroductoryOffer: Bool
  /// Has or had a subscription of the group.
  package let isEligibleForPromotionalOffers: Bool
  /// The win-back offers that Apple named last, the best first; none while a product is in force.
  package let eligibleWinBackOfferIDs: [String]
  /// Days of paid service that count towards the higher revenue share.
  package let paidServiceDays: Int64

  init(
    _ group: String, _ indices: [Int], _ facts: borrowing CustomerFacts, _ products: [ProductOverview],
    at now: Instant
  ) {
    let productIDs = Set(indices.map { facts.transactions[$0].productID })
    let bought = products.filter { productIDs.contains($0.productID) }
    let active = bought.first { $0.state == .active }
    let own = indices.filter { facts.transactions[$0].ownership != .familyShared }
    let renewals = indices.compactMap { facts.renewal(describing: $0) }.map { facts.renewals[$0] }
    self.group = group
    state = active?.state ?? (bought.contains { $0.state == .inactive } ? .inactive : .new)
    productID = active?.productID
    autoRenewProductID = active?.renewal?.autoRenewProductID
    isEligibleForIntroductoryOffer = !own.contains { facts.transactions[$0].offerType == .introductory }
    isEligibleForPromotionalOffers = !own.isEmpty
    eligibleWinBackOfferIDs =
      active == nil
      ? renewals.max { $0.signedDate < $1.signedDate }?.details.eligibleWinBackOfferIDs ?? [] : []
    paidServiceDays = PaidService.milliseconds(indices, facts, upTo: now) / 86_400_000
  }
}

extension EntitlementRules {
  /// Rules by which only one product counts, and for all that it can give: whether the customer has it.
  static func ownership(
    of productID: String, in app: borrowing AppDefinition
  ) -> EntitlementRules {
    let product = EntitlingProduct(
      duration: app.products[productID]?.duration, level: .full, operatorGrace: nil)
    return EntitlementRules(
      entitlement: "", products: [productID: product], familySharing: .allow, boughtBefore: [],
      knownProducts: [])
  }
}

/// What a customer bought of one consumable, in units, and what was taken back. How many were used only the
/// app knows.
package struct ConsumableBalance: Hashable, Sendable {
  /// Apple's product id.
  package let productID: String
  /// Units bought, the refunded ones included.
  package let purchased: Int64
  /// Units refunded: what the operator has to take back. Where Apple gave back a part of the price it is that
  /// part of the units, rounded up. A refund that was reversed is not among them.
  package let refunded: Int64

  /// The balances of all consumables that were bought, by product id.
  static func all(_ facts: borrowing CustomerFacts) -> [ConsumableBalance] {
    var units: [String: (purchased: Int64, refunded: Int64)] = [:]
    for transaction in facts.transactions where transaction.type == .consumable {
      let quantity = transaction.quantity
      var found = units[transaction.productID] ?? (0, 0)
      found.purchased = adding(found.purchased, quantity)
      if transaction.accessRevokedAt != nil {
        found.refunded = adding(found.refunded, refundedUnits(transaction))
      }
      units[transaction.productID] = found
    }
    return units.sorted { $0.key < $1.key }.map { productID, units in
      ConsumableBalance(productID: productID, purchased: units.purchased, refunded: units.refunded)
    }
  }
}

private func refundedUnits(_ transaction: TransactionFact) -> Int64 {
  // In thousandths of a percent.
  let share = min(max(0, transaction.details.revocationPercentage ?? 100_000), 100_000)
  let (product, overflow) = transaction.quantity.multipliedReportingOverflow(by: share)
  return overflow ? transaction.quantity : product / 100_000 + (product % 100_000 > 0 ? 1 : 0)
}

/// Stops at the largest number.
private func adding(_ left: Int64, _ right: Int64) -> Int64 {
  let (sum, overflow) = left.addingReportingOverflow(right)
  return overflow ? .max : sum
}
