package import AppStore

/// The state of one customer at one instant: products, subscription groups, consumables and grants.
package struct CustomerOverview: Hashable, Sendable {
  /// Every product of the catalog and every other purchased product, by product id.
  package let products: [ProductOverview]
  /// Every subscription group of the catalog and every other group with a purchase, by name.
  package let groups: [GroupOverview]
  /// The purchased consumables, by product id.
  package let consumables: [ConsumableBalance]
  /// All grants, ended ones included.
  package let grants: [GrantFact]

  /// Evaluates `facts` at `now`.
  package init(
    _ stored: borrowing CustomerFacts, in app: borrowing AppDefinition, at now: Instant
  ) {
    let facts = stored.purchases(in: app)
    let bought = Dictionary(grouping: facts.transactions.indices) { facts.transactions[$0].productID }
    let productIDs = Set(app.products.keys).union(bought.keys).sorted()
    var products: [ProductOverview] = []
    for productID in productIDs {
      var product = ProductOverview(productID, bought[productID] ?? [], facts, app, at: now)
      product.restoreType(from: stored)
      products.append(product)
    }
    let subscriptionGroups = SubscriptionGroups(facts, in: app)
    var indices: [String: [Int]] = [:]
    for index in facts.transactions.indices {
      guard let group = subscriptionGroups.group(of: facts.transactions[index]) else { continue }
      indices[group, default: []].append(index)
    }
    self.products = products
    groups = subscriptionGroups.all(facts).map { group in
      GroupOverview(group, indices[group] ?? [], facts, products, in: app, at: now)
    }
    consumables = ConsumableBalance.all(facts)
    grants = facts.grants
  }
}

/// The state of one product for one customer.
package struct ProductOverview: Hashable, Sendable {
  /// The App Store's product id.
  package let productID: String
  /// The type that Apple sold it as; the catalog's type if it was never purchased, or if this version does not know
  /// Apple's.
  package let type: ProductType
  /// The state by the latest purchase and the time.
  package let state: ProductState
  /// The latest purchase or period that no upgrade replaced before it started; `nil` if there is none.
  package private(set) var latest: TransactionFact?
  /// The renewal info of ``latest``; `nil` unless it describes that period.
  package let renewal: RenewalFact?

  init(
    _ productID: String, _ bought: [Int], _ facts: borrowing CustomerFacts,
    _ app: borrowing AppDefinition, at now: Instant
  ) {
    let kept = bought.filter { !facts.isReplacedBeforeStart($0) }
    let latest = (kept.isEmpty ? bought : kept).max {
      let (left, right) = (facts.transactions[$0], facts.transactions[$1])
      return (left.purchaseDate, left.transactionID) < (right.purchaseDate, right.transactionID)
    }
    self.productID = productID
    // Not the refunded part of a period whose other seats remain.
    self.latest = latest.map { facts.transactions[facts.standing(ofPeriodAt: $0)] }
    renewal = latest.flatMap { facts.renewal(of: $0, at: now) }
    type = self.latest?.type ?? app.products[productID]?.type ?? .unrecognized("")
    let intervals = AccessIntervals(facts, .ownership(of: productID, in: app))
    if intervals.deciding(at: now) != nil {
      state = .active
    } else {
      state = bought.contains { facts.transactions[$0].purchaseDate <= now } ? .inactive : .new
    }
  }

  /// Gives ``latest`` the type that Apple sent.
  fileprivate mutating func restoreType(from stored: borrowing CustomerFacts) {
    guard let transaction = latest, let first = stored.transactions.first(where: transaction.isSame) else {
      return
    }
    latest?.type = first.type
  }
}

/// The state of one subscription group for one customer.
package struct GroupOverview: Hashable, Sendable {
  /// The catalog's name of the group; Apple's `subscriptionGroupIdentifier` if the catalog has none.
  package let group: String
  /// Active if one of the group's products is active.
  package let state: ProductState
  /// The active product, of several that of the highest level; `nil` if none is active.
  package let productID: String?
  /// The product of the next period; `nil` if none is active or Apple sent no renewal info.
  package let autoRenewProductID: String?
  /// See ``OfferEligibility/introductory(_:group:in:at:)``.
  package let isEligibleForIntroductoryOffer: Bool
  /// Whether the customer has or had a subscription of the group.
  package let isEligibleForPromotionalOffers: Bool
  /// Apple's latest `eligibleWinBackOfferIds` about the customer's own purchases, best first; empty while a product is
  /// active.
  package let eligibleWinBackOfferIDs: [String]
  /// Full days of paid service that count towards the higher revenue share. See ``PaidService``.
  package let paidServiceDays: Int64

  init(
    _ group: String, _ indices: [Int], _ facts: borrowing CustomerFacts, _ products: [ProductOverview],
    in app: borrowing AppDefinition, at now: Instant
  ) {
    let productIDs = Set(indices.map { facts.transactions[$0].productID })
    let bought = products.filter { productIDs.contains($0.productID) }
    let active = Self.deciding(among: bought.filter { $0.state == .active }, facts, in: app, at: now)
    self.group = group
    state = active?.state ?? (bought.contains { $0.state == .inactive } ? .inactive : .new)
    productID = active?.productID
    autoRenewProductID = active?.renewal?.autoRenewProductID
    let own = indices.filter { !facts.transactions[$0].isShared }
    isEligibleForIntroductoryOffer =
      OfferEligibility.introductory(own, facts, in: app, at: now) == .eligible
    isEligibleForPromotionalOffers = !own.isEmpty
    let ownLines = Set(own.map { facts.transactions[$0].originalTransactionID })
    let renewals = facts.renewals.filter { ownLines.contains($0.originalTransactionID) }
    eligibleWinBackOfferIDs =
      active == nil
      ? renewals.max { $0.signedDate < $1.signedDate }?.details.eligibleWinBackOfferIDs ?? [] : []
    paidServiceDays = PaidService.milliseconds(indices, facts, upTo: now) / Instant.millisecondsPerDay
  }

  /// The product of the highest level of the group among `active` ones; of several, the one whose purchase decides. An own
  /// subscription and a shared one, for example, can be active at the same time.
  private static func deciding(
    among active: [ProductOverview], _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition,
    at now: Instant
  ) -> ProductOverview? {
    guard active.count > 1 else { return active.first }
    let levels = active.map { app.products[$0.productID]?.level ?? .max }
    let highest = zip(active, levels).filter { $0.1 == levels.min() }.map(\.0)
    let intervals = AccessIntervals(facts, .ownership(ofAny: Set(highest.map(\.productID)), in: app))
    let deciding = intervals.deciding(at: now)?.transaction.map { facts.transactions[$0].productID }
    return highest.first { $0.productID == deciding } ?? highest.first
  }
}

extension EntitlementRules {
  /// Rules under which only one product grants access, to decide whether the customer owns it.
  static func ownership(
    of productID: String, in app: borrowing AppDefinition
  ) -> EntitlementRules {
    ownership(ofAny: [productID], in: app)
  }

  /// Rules under which only these products grant access.
  static func ownership(
    ofAny productIDs: Set<String>, in app: borrowing AppDefinition, withOperatorGrace: Bool = false
  ) -> EntitlementRules {
    var products: [String: EntitlingProduct] = [:]
    for productID in productIDs {
      let product = app.products[productID]
      products[productID] = EntitlingProduct(
        duration: product?.duration, level: .full,
        operatorGrace: withOperatorGrace ? product?.operatorGrace : nil)
    }
    return EntitlementRules(
      entitlement: "", products: products, familySharing: .allow, boughtBefore: [],
      endsAccessOnRescindedConsent: app.rescindConsent == .endAccess, knownProducts: [],
      renewal: app.renewalPolicy)
  }
}

/// The units of one consumable that a customer purchased and that were refunded. The units used are known
/// only to the app.
package struct ConsumableBalance: Hashable, Sendable {
  package let productID: String
  /// Units purchased, refunded ones included.
  package let purchased: Int64
  /// Units refunded, which the operator has to take back. After a partial refund it is the refunded share of
  /// the units, rounded up. Reversed refunds are not included.
  package let refunded: Int64

  /// Returns the balances of all purchased consumables, by product id.
  static func all(_ facts: borrowing CustomerFacts) -> [ConsumableBalance] {
    var units: [String: (purchased: Int64, refunded: Int64)] = [:]
    for transaction in facts.transactions where transaction.type == .consumable {
      let quantity = transaction.quantity
      var found = units[transaction.productID] ?? (0, 0)
      found.purchased = adding(found.purchased, quantity)
      if transaction.revocationDate != nil {
        found.refunded = adding(found.refunded, transaction.refundedUnits)
      }
      units[transaction.productID] = found
    }
    return units.sorted { $0.key < $1.key }.map { productID, units in
      ConsumableBalance(productID: productID, purchased: units.purchased, refunded: units.refunded)
    }
  }
}

extension TransactionFact {
  /// The units of a consumable that were refunded: after a partial refund the share of the units, rounded up.
  ///
  /// `revocationPercentage` is in thousandths of a percent, and Apple rounds it: 66,667 for two of three units. So the
  /// least share that it may stand for counts, which is half of a thousandth less.
  package var refundedUnits: Int64 {
    guard revocationDate != nil else { return 0 }
    let share = min(max(0, details.revocationPercentage ?? 100_000), 100_000)
    guard share > 0 else { return 0 }
    let (product, overflow) = quantity.multipliedReportingOverflow(by: 2 * share - 1)
    return share == 100_000 || overflow ? quantity : (product - 1) / 200_000 + 1
  }
}

/// Saturating addition.
private func adding(_ left: Int64, _ right: Int64) -> Int64 {
  let (sum, overflow) = left.addingReportingOverflow(right)
  return overflow ? .max : sum
}
