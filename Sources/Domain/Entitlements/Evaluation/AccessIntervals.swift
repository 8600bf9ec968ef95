internal import AppStore

/// The times at which what is known of one customer gives access to one entitlement.
///
/// There is no "latest expiry" in here: each transaction of a subscription covers its own stretch, cut
/// by a revocation and by whatever came next in its line, so that a refund of an old period takes away
/// that period and nothing else.
struct AccessIntervals {
  private(set) var all: [AccessInterval] = []
  /// When the first product was bought that the catalog does not have; `nil` if none was.
  private(set) var firstUnknownProduct: Instant?

  /// The access that `facts` give by `rules`.
  init(_ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules) {
    all.reserveCapacity(facts.transactions.count + 1)
    var nonRenewing: [Int] = []
    // The periods of one subscription follow each other, mostly of one product: one look-up for all.
    var lookedUp = (productID: "", product: EntitlementRules.EntitlingProduct?.none)
    for index in facts.transactions.indices {
      if facts.transactions[index].productID != lookedUp.productID {
        lookedUp.productID = facts.transactions[index].productID
        lookedUp.product = rules.products[lookedUp.productID]
      }
      guard let product = lookedUp.product else {
        recordUnknownProduct(index, facts, rules)
        continue
      }
      switch facts.transactions[index].type {
      case .autoRenewableSubscription: addPeriod(index, facts, rules, product.level)
      case .nonConsumable: addNonConsumable(index, facts, rules, product)
      case .nonRenewingSubscription: nonRenewing.append(index)
      case .consumable, .unrecognized: addNothing(.nonEntitling, index, facts)
      }
    }
    if !nonRenewing.isEmpty { addNonRenewing(nonRenewing, facts, rules) }
    for renewal in facts.renewals.indices { addGrace(renewal, facts, rules) }
    for grant in facts.grants.indices { addGrant(grant, facts, rules) }
    for index in facts.appTransactions.indices { addApp(index, facts, rules) }
  }

  private mutating func recordUnknownProduct(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    guard !rules.knownProducts.contains(facts.transactions[index].productID) else { return }
    let bought = facts.transactions[index].purchaseDate
    firstUnknownProduct = firstUnknownProduct.map { min($0, bought) } ?? bought
  }

  /// Access of `kind` by the transaction at `index`, as far as a shared one may give it.
  private mutating func add(
    _ kind: AccessInterval.Kind, _ level: AccessLevel, from start: Instant, to end: Instant, by index: Int,
    _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    let isShared = facts.transactions[index].isShared
    var level = level
    // By case and not by ==, which compares texts.
    if case .familyShared = facts.transactions[index].ownership {
      level = rules.familySharing.applied(to: level)
      guard level > .none else {
        // Said once: of the purchase itself, not of what would have gone on behind it.
        if kind != .grace, kind != .operatorGrace { addNothing(.sharingDenied, index, facts) }
        return
      }
    }
    all.append(AccessInterval(kind, level, from: start, to: end, by: index, isShared: isShared))
  }

  private mutating func addNothing(
    _ kind: AccessInterval.Kind, _ index: Int, _ facts: borrowing CustomerFacts
  ) {
    let bought = facts.transactions[index].purchaseDate
    all.append(AccessInterval(kind, .none, from: bought, to: bought, by: index, isShared: false))
  }

  /// One period of a subscription: up to the earliest of its expiry, its revocation and the next purchase
  /// in its line.
  private mutating func addPeriod(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules, _ level: AccessLevel
  ) {
    let start = facts.transactions[index].purchaseDate
    let next = facts.nextInLine(after: index)
    // An upgrade that has not arrived yet: when it took over is not known, only that it did.
    let end = next == nil && facts.transactions[index].isUpgraded ? start : facts.paidEnd(index, next)
    add(.subscription, level, from: start, to: end, by: index, facts, rules)
  }

  /// For ever, or as long as the catalog says if it is a trial (from the first download on), unless
  /// revoked.
  private mutating func addNonConsumable(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules,
    _ product: EntitlementRules.EntitlingProduct
  ) {
    let bought = facts.transactions[index].purchaseDate
    let revoked = facts.transactions[index].accessRevokedAt ?? .openEnd
    guard let duration = product.duration else {
      return add(.nonConsumable, product.level, from: bought, to: revoked, by: index, facts, rules)
    }
    let start = facts.transactions[index].originalPurchaseDate ?? bought
    let end = min(start.adding(duration), revoked)
    add(.trial, product.level, from: start, to: end, by: index, facts, rules)
  }

  /// The purchases of each product one after the other: one that is bought while another runs begins
  /// where that one ends. Each has a line of its own, so they have to be put in order first.
  private mutating func addNonRenewing(
    _ indices: [Int], _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    let transactions = facts.transactions
    let ordered = indices.sorted {
      let (left, right) = (transactions[$0], transactions[$1])
      return (left.productID, left.purchaseDate, left.transactionID)
        < (right.productID, right.purchaseDate, right.transactionID)
    }
    var previous: (product: String, end: Instant)?
    for index in ordered {
      let bought = transactions[index]
      guard let product = rules.products[bought.productID] else { continue }
      var start = bought.purchaseDate
      if let previous, previous.product == bought.productID { start = max(start, previous.end) }
      var end = start
      if let duration = product.duration {
        for _ in 0..<min(bought.quantity, 100) { end = end.adding(duration) }
      }
      end = max(start, min(end, bought.accessRevokedAt ?? .openEnd))
      add(.nonRenewing, product.level, from: start, to: end, by: index, facts, rules)
      previous = (bought.productID, end)
    }
  }
}

// What goes on behind a paid period, and what rests on no purchase in the app.
extension AccessIntervals {
  /// The grace behind the period that a renewal info describes: Apple's to its end, the operator's for the
  /// days that the catalog gives from the end of the paid period on.
  private mutating func addGrace(
    _ renewal: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    let graceEnd = facts.renewals[renewal].gracePeriodExpiresDate
    guard graceEnd != nil || facts.renewals[renewal].isInBillingRetry,
      let index = facts.transaction(describedBy: renewal),
      let product = rules.products[facts.transactions[index].productID],
      !facts.transactions[index].isUpgraded, let expiry = facts.transactions[index].expiresDate
    else { return }
    let cut = facts.cut(index, facts.nextInLine(after: index))
    if let end = graceEnd.map({ min($0, cut) }), expiry < end {
      add(.grace, product.level, from: expiry, to: end, by: index, facts, rules)
    }
    guard let grace = product.operatorGrace else { return }
    let end = min(expiry.advanced(byMilliseconds: grace.days * 86_400_000), cut)
    if expiry < end {
      add(.operatorGrace, min(product.level, grace.access), from: expiry, to: end, by: index, facts, rules)
    }
  }

  private mutating func addGrant(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    let grant = facts.grants[index]
    guard grant.entitlement == rules.entitlement, grant.accessLevel > .none else { return }
    let end = min(grant.until ?? .openEnd, grant.revokedAt ?? .openEnd)
    all.append(
      AccessInterval(.grant, grant.accessLevel, from: grant.since, to: end, .grant(index), .grant))
  }

  /// For ever, from when the customer got the app: an order before that gave nothing yet.
  private mutating func addApp(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    guard !rules.boughtBefore.isEmpty else { return }
    let app = facts.appTransactions[index]
    guard let version = AppVersion(app.originalApplicationVersion) else { return }
    let start = app.originalPurchaseDate ?? app.signedDate
    for rule in rules.boughtBefore where version < rule.version && rule.level > .none {
      all.append(
        AccessInterval(.boughtBefore, rule.level, from: start, to: .openEnd, .appTransaction(index), .ownApp))
    }
  }
}

extension Instant {
  /// ``advanced(by:)``, without the calendar where the period is made of days.
  fileprivate func adding(_ period: Period) -> Instant {
    period.months == 0 ? advanced(byMilliseconds: period.days * 86_400_000) : advanced(by: period)
  }
}
