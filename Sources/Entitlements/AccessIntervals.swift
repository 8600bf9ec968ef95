internal import AppStore

/// The times at which one customer's purchases give access to one entitlement.
///
/// There is no "latest expiry" in here: each transaction of a subscription covers its own stretch, cut
/// by a revocation and by whatever came next in its line, so that a refund of an old period takes away
/// that period and nothing else.
struct AccessIntervals {
  private(set) var all: [AccessInterval] = []

  /// The access that `facts` give through the products in `givers`.
  init(_ facts: borrowing CustomerFacts, givers: [String: Giver]) {
    all.reserveCapacity(facts.transactions.count + 1)
    var nonRenewing: [Int] = []
    // The periods of one subscription follow each other, mostly of one product: one look-up for all.
    var lookedUp = (product: "", giver: Giver?.none)
    for index in facts.transactions.indices {
      if facts.transactions[index].productID != lookedUp.product {
        lookedUp.product = facts.transactions[index].productID
        lookedUp.giver = givers[lookedUp.product]
      }
      guard let giver = lookedUp.giver else { continue }
      switch facts.transactions[index].type {
      case .autoRenewableSubscription: addPeriod(index, facts)
      case .nonConsumable: addNonConsumable(index, facts, lasting: giver.duration)
      case .nonRenewingSubscription: nonRenewing.append(index)
      case .consumable, .unrecognized: addNothing(index, facts)
      }
    }
    if !nonRenewing.isEmpty { addNonRenewing(nonRenewing, facts, givers) }
    for renewal in facts.renewals.indices { addGrace(renewal, facts, givers) }
  }

  /// One period of a subscription: up to the earliest of its expiry, its revocation and the next purchase
  /// in its line.
  private mutating func addPeriod(_ index: Int, _ facts: borrowing CustomerFacts) {
    let start = facts.transactions[index].purchaseDate
    let next = facts.nextInLine(after: index)
    // An upgrade that has not arrived yet: when it took over is not known, only that it did.
    let end = next == nil && facts.transactions[index].isUpgraded ? start : facts.paidEnd(index, next)
    all.append(AccessInterval(.subscription, from: start, to: end, by: index))
  }

  /// The billing grace period behind the period that a renewal info describes.
  private mutating func addGrace(
    _ renewal: Int, _ facts: borrowing CustomerFacts, _ givers: [String: Giver]
  ) {
    guard let graceEnd = facts.renewals[renewal].gracePeriodExpiresDate,
      let index = facts.transaction(describedBy: renewal),
      givers[facts.transactions[index].productID] != nil, !facts.transactions[index].isUpgraded,
      let expiry = facts.transactions[index].expiresDate
    else { return }
    let end = min(graceEnd, facts.cut(index, facts.nextInLine(after: index)))
    if expiry < end { all.append(AccessInterval(.grace, from: expiry, to: end, by: index)) }
  }

  /// For ever, or as long as the catalog says if it is a trial (from the first download on), unless
  /// revoked.
  private mutating func addNonConsumable(
    _ index: Int, _ facts: borrowing CustomerFacts, lasting duration: Period?
  ) {
    let bought = facts.transactions[index].purchaseDate
    let revoked = facts.transactions[index].revocationDate ?? .openEnd
    guard let duration else {
      return all.append(AccessInterval(.nonConsumable, from: bought, to: revoked, by: index))
    }
    let start = facts.transactions[index].originalPurchaseDate ?? bought
    let end = min(start.after(duration), revoked)
    all.append(AccessInterval(.trial, from: start, to: end, by: index))
  }

  private mutating func addNothing(_ index: Int, _ facts: borrowing CustomerFacts) {
    let bought = facts.transactions[index].purchaseDate
    all.append(AccessInterval(.nothing, from: bought, to: bought, by: index))
  }

  /// The purchases of each product one after the other: one that is bought while another runs begins
  /// where that one ends. Each has a line of its own, so they have to be put in order first.
  private mutating func addNonRenewing(
    _ indices: [Int], _ facts: borrowing CustomerFacts, _ givers: [String: Giver]
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
      var start = bought.purchaseDate
      if let previous, previous.product == bought.productID { start = max(start, previous.end) }
      var end = start
      if let duration = givers[bought.productID]?.duration {
        for _ in 0..<min(bought.quantity, 100) { end = end.after(duration) }
      }
      let interval = AccessInterval(
        .nonRenewing, from: start, to: min(end, bought.revocationDate ?? .openEnd), by: index)
      all.append(interval)
      previous = (bought.productID, interval.end)
    }
  }
}

extension AccessIntervals {
  /// The one that decides at `now`: the latest end among those that cover it; if they end together, an
  /// own purchase comes before a shared one.
  func deciding(at now: Instant, _ facts: borrowing CustomerFacts) -> AccessInterval? {
    var best: AccessInterval?
    for interval in all where interval.covers(now) {
      guard let found = best else {
        best = interval
        continue
      }
      let isBetter =
        interval.end == found.end
        ? facts.isShared(found.transaction) && !facts.isShared(interval.transaction)
        : interval.end > found.end
      if isBetter { best = interval }
    }
    return best
  }

  /// The end of the unbroken access that goes on at `end`.
  func endOfRun(from end: Instant) -> Instant {
    var end = end
    var grew = true
    while grew {
      grew = false
      for interval in all where interval.start <= end && end < interval.end {
        end = interval.end
        grew = true
      }
    }
    return end
  }

  /// The last access that there was by `now`, or the last purchase that gave none.
  func last(before now: Instant) -> AccessInterval? {
    var best: AccessInterval?
    for interval in all where interval.start <= now {
      guard let found = best, (interval.end, interval.start) <= (found.end, found.start) else {
        best = interval
        continue
      }
    }
    return best
  }

  /// The first access to begin after `now`.
  func nextStart(after now: Instant) -> Instant? {
    all.lazy.filter { $0.start > now && $0.start < $0.end }.map(\.start).min()
  }
}

extension Instant {
  /// ``advanced(by:)``, without the calendar where the period is made of days.
  fileprivate func after(_ period: Period) -> Instant {
    period.months == 0 ? advanced(byMilliseconds: period.days * 86_400_000) : advanced(by: period)
  }
}
