package import AppStore

/// The access intervals of one entitlement for one customer, and with them what the facts say about an
/// instant t, past or present:
///
/// - There is no "latest expiry": each transaction of a subscription covers its own interval, cut by a
///   revocation and by the next purchase of its line, so a refund of an old period removes that period only.
/// - Each failed renewal covers an interval too: the grace period that any renewal info granted lasts from the
///   end of the paid period to the latest `gracePeriodExpiresDate`, and stays an interval when renewal info
///   that was signed after it has none. A revocation and the next paid period cut it, and at the date of its
///   signature renewal info with billing retry and no grace period, or with auto-renew off, because the App Store
///   then ends the subscription at once (Apple, Testing failing subscription renewals).
/// - Renewal, price and the reason of an end come from the renewal info in force at t: the newest one signed
///   at or before t, or the first one signed after the end of the period, which proves how the period ended unless a
///   failed payment was reported before (``CustomerFacts/renewal(of:at:)``). A failure that Apple announced after the
///   payment had succeeded is none (``CustomerFacts/reportsFailure(_:of:)``). A document that was signed later than it arrived, by the service's
///   clock, counts from its arrival.
/// - A period with renewal on, whose renewal or failure is not known when it ends, is followed by the slack of
///   ``RenewalPolicy``, up to the first renewal info that says how the renewal went.
///
/// So a document changes the answers about the time before its signature only where it proves something about
/// that time.
struct AccessIntervals {
  private(set) var all: [AccessInterval] = []
  /// The purchase date of the first product that is missing from the catalog; `nil` if there is none.
  private(set) var firstUnknownProduct: Instant?
  /// The access by facts that are left out.
  let omitted: [OmittedAccess.Span]

  /// Applies `rules` to `facts`.
  init(_ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules) {
    omitted = facts.omitted?.spans[rules.entitlement] ?? []
    all.reserveCapacity(facts.transactions.count + 1)
    var nonRenewing: [Int] = []
    // Most neighbours are periods of the same product, so one lookup serves them all.
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
    for history in facts.renewalHistories.indices { addFailedRenewals(history, facts, rules) }
    for grant in facts.grants.indices { addGrant(grant, facts, rules) }
    for index in facts.appTransactions.indices { addApp(index, facts, rules) }
    guard rules.endsAccessOnRescindedConsent else { return }
    for index in all.indices {
      if let instant = facts.consentRescinded(all[index].source) {
        all[index] = all[index].ended(byConsentAt: instant)
      }
    }
  }

  private mutating func recordUnknownProduct(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    guard !rules.knownProducts.contains(facts.transactions[index].productID) else { return }
    let bought = facts.transactions[index].purchaseDate
    firstUnknownProduct = firstUnknownProduct.map { min($0, bought) } ?? bought
  }

  /// Adds an interval of the transaction at `index`, limited by the family sharing policy if it is shared.
  private mutating func add(
    _ kind: AccessInterval.Kind, _ level: AccessLevel, from start: Instant, to end: Instant, by index: Int,
    _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    let isShared = facts.transactions[index].isShared
    var level = level
    // Matches the case because == compares raw values, which are strings.
    if case .familyShared = facts.transactions[index].ownership {
      level = rules.familySharing.applied(to: level)
      guard level > .none else {
        // Recorded once, for the purchase itself and not for its grace.
        if kind != .grace, kind != .operatorGrace, kind != .renewalSlack {
          addNothing(.sharingDenied, index, facts)
        }
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

  /// Adds one period of a subscription: up to the earliest of its expiry, its revocation, the next purchase of its
  /// line and, until the upgrade arrives, the first document that says it was upgraded.
  private mutating func addPeriod(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules, _ level: AccessLevel
  ) {
    guard !facts.isReplacedBeforeStart(index) else { return addNothing(.replaced, index, facts) }
    let start = facts.accessStart(index, rules.renewal)
    let next = facts.nextInLine(after: index)
    let end = facts.paidEnd(index, next)
    addEarlierSeatTimes(index, facts, rules, level)
    add(.subscription, level, from: start, to: end, by: index, facts, rules)
    let slack = facts.renewalSlack(index, next, rules.renewal.slack)
    if let slack {
      add(.renewalSlack, level, from: slack.lowerBound, to: slack.upperBound, by: index, facts, rules)
    }
  }

  /// Adds the access of a seat in a period before the claim had to wait for another seat.
  private mutating func addEarlierSeatTimes(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules, _ level: AccessLevel
  ) {
    let expiry = facts.transactions[index].expiresDate ?? .openEnd
    for time in facts.transactions[index].earlierSeatTimes where time.lowerBound < expiry {
      add(
        .subscription, level, from: time.lowerBound, to: min(time.upperBound, expiry), by: index, facts, rules
      )
    }
  }

  /// Adds a non-consumable: no end unless revoked; if the catalog gives it a duration it is a trial that
  /// starts with the first download (WWDC18-704).
  ///
  /// The purchase date of a restored product is that of the restore (Apple, purchaseDate). The customer has owned it since the
  /// original purchase. A member of a family gets it when it is shared, which may be later than the purchase.
  private mutating func addNonConsumable(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules,
    _ product: EntitlementRules.EntitlingProduct
  ) {
    let bought = facts.accessStart(index, rules.renewal)
    let start = min(facts.transactions[index].originalPurchaseDate ?? bought, bought)
    let revoked = facts.transactions[index].revocationDate ?? .openEnd
    let owned = facts.transactions[index].isShared ? bought : start
    guard let duration = product.duration else {
      return add(.nonConsumable, product.level, from: owned, to: revoked, by: index, facts, rules)
    }
    let end = min(start.advanced(by: duration), revoked)
    add(.trial, product.level, from: owned, to: end, by: index, facts, rules)
  }

  /// Adds non-renewing subscriptions. Purchases of one product add up: one that is made while another is
  /// active starts at the end of that one (WWDC22-110404). Each is a separate line, so they are sorted
  /// first.
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
      var start = facts.accessStart(index, rules.renewal)
      if let previous, previous.product == bought.productID { start = max(start, previous.end) }
      let end = bought.nonRenewingEnd(from: start, duration: product.duration)
      add(.nonRenewing, product.level, from: start, to: end, by: index, facts, rules)
      previous = (bought.productID, end)
    }
  }
}

// Access after a paid period, and access without an in-app purchase.
extension AccessIntervals {
  /// Adds the access after each failed renewal of a line.
  private mutating func addFailedRenewals(
    _ history: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    for failure in facts.failedRenewals(history) { addGrace(failure, facts, rules) }
  }

  /// Adds the grace after a failed renewal: Apple's to its end, the operator's for the days in the catalog,
  /// counted from the end of the paid period.
  private mutating func addGrace(
    _ failure: FailedRenewal, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    // A refund of one of several transactions about the period does not end the grace.
    let index = facts.standing(ofPeriodAt: failure.period)
    let productID =
      switch rules.renewal.graceEntitlements {
      case .previous: facts.transactions[index].productID
      case .next: failure.nextProductID ?? facts.transactions[index].productID
      }
    let next = facts.nextInLine(after: index)
    guard let product = rules.products[productID], let expiry = facts.end(ofPeriodAt: index) else { return }
    let cut = min(facts.cut(index, next), failure.turnedOffAt ?? .openEnd)
    // A member may join in the grace period, and the holder of a seat may lose it and get another one.
    let joined = facts.transactions[failure.period].purchaseDate
    let times = facts.transactions[index].earlierSeatTimes + [joined..<max(joined, cut)]
    for time in times {
      let start = max(expiry, time.lowerBound, failure.start ?? expiry)
      let cut = min(cut, time.upperBound)
      if let end = failure.graceEnd.map({ min($0, cut) }), start < end {
        add(.grace, product.level, from: start, to: end, by: index, facts, rules)
      }
      // A failed payment of a commitment ends access at once.
      guard let grace = product.operatorGrace, !facts.transactions[index].isOfCommitment else { continue }
      let end = min(expiry.advanced(byDays: grace.days), cut)
      if start < end {
        add(.operatorGrace, min(product.level, grace.access), from: start, to: end, by: index, facts, rules)
      }
    }
  }

  private mutating func addGrant(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    for (state, end) in facts.grants[index].access
    where state.entitlement == rules.entitlement && state.accessLevel > .none {
      let isExternal = state.external != nil
      all.append(
        AccessInterval(
          isExternal ? .external : .grant, state.accessLevel, from: state.since, to: end, .grant(index),
          isExternal ? .ownPurchase : .grant))
    }
  }

  /// Adds the access of a customer who got the app before it was free. It starts with the first download; a pre-order
  /// grants nothing before that. It is permanent, unless an organization bought the app and its license ends, or Apple
  /// revokes the purchase of the app; then it starts again with the first valid document after that.
  private mutating func addApp(
    _ index: Int, _ facts: borrowing CustomerFacts, _ rules: borrowing EntitlementRules
  ) {
    guard !rules.boughtBefore.isEmpty else { return }
    let app = facts.appTransactions[index]
    guard let version = AppVersion(app.originalApplicationVersion) else { return }
    for rule in rules.versionRules(on: app.originalPlatform)
    where version < rule.version && rule.level > .none {
      for time in app.access {
        all.append(
          AccessInterval(
            .boughtBefore, rule.level, from: time.lowerBound, to: time.upperBound, .appTransaction(index),
            .ownApp))
      }
    }
  }
}

extension TransactionFact {
  /// The end of a non-renewing subscription that begins at `start`, unless Apple revokes it before. Without a duration in
  /// the catalog it ends as it begins.
  package func nonRenewingEnd(from start: Instant, duration: Period?) -> Instant {
    let end = duration.map { start.nonRenewingEnd(after: $0, quantity: quantity) } ?? start
    return max(start, min(end, revocationDate ?? .openEnd))
  }
}

extension Instant {
  /// The end of a non-renewing subscription that begins here: its duration counts once for each of its quantity, at most
  /// 100 times.
  package func nonRenewingEnd(after duration: Period, quantity: Int64) -> Instant {
    (0..<max(0, min(quantity, 100))).reduce(self) { end, _ in end.advanced(by: duration) }
  }
}

extension CustomerFacts {
  /// When a parent or guardian withdrew the consent for the app install behind an interval; `nil` if none did.
  /// Transactions from before Apple introduced `appTransactionId` count for every install.
  fileprivate func consentRescinded(_ source: AccessInterval.Source) -> Instant? {
    switch source {
    case .grant: return nil
    case .appTransaction(let index): return appTransactions[index].consentRescindedAt
    case .transaction(let index):
      let install = transactions[index].details.appTransactionID
      return appTransactions.filter { install == nil || $0.appTransactionID == install }
        .compactMap(\.consentRescindedAt).min()
    }
  }
}
