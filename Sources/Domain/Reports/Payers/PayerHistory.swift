internal import AppStore
internal import Entitlements

/// The periods of all subscriptions of one payer, and what their postings need of each other.
struct PayerHistory {
  /// The subscriptions, by their first purchase.
  let lines: [SubscriptionLine]
  /// The start of the payer's first paid period in each group.
  let firstPaid: [String: Instant]
  let groups: SubscriptionGroups
  /// In the order of ``CustomerFacts/transactions``.
  let transactions: [ReportedTransaction]
  let paidYears: PaidYears
  /// The cohort of lifetime value: the day of the payer's first charge; `nil` without a charge.
  let cohort: Posting.Cohort?

  init(_ facts: borrowing CustomerFacts, in app: borrowing AppDefinition) {
    groups = SubscriptionGroups(facts, in: app)
    let transactions = ReportedTransaction.all(facts, groups)
    self.transactions = transactions
    paidYears = PaidYears(
      facts, transactions, smallBusinessProgram: app.reports.smallBusinessProgram)
    cohort = Self.cohort(facts, transactions)
    var lines: [SubscriptionLine] = []
    var predecessors: [String: String] = [:]
    for index in transactions.indices where transactions[index].isSubscription {
      let line = facts.transactions[index].originalTransactionID
      if lines.last?.line != line {
        lines.append(SubscriptionLine(line))
        if let predecessor = transactions[index].predecessor { predecessors[line] = predecessor }
      }
      Self.add(index, facts, transactions, to: &lines[lines.count - 1].periods)
    }
    lines.removeAll { $0.periods.isEmpty }
    lines = lines.joined(predecessors)
    Self.setDurations(lines, facts, app)
    var firstPaid: [String: Instant] = [:]
    // Mostly the periods of one group follow each other.
    var last: (group: String, first: Instant)?
    for line in lines.indices {
      for index in lines[line].periods.indices where !lines[line].periods[index].isTrial {
        let (group, start) = (lines[line].periods[index].dimensions.group, lines[line].periods[index].start)
        if let last, last.group == group, last.first <= start { continue }
        let first = min(firstPaid[group] ?? start, start)
        (firstPaid[group], last) = (first, (group, first))
      }
    }
    self.lines = lines
    self.firstPaid = firstPaid
  }

  /// The cohort of the customer's first paid transaction; `nil` for a customer who never paid. The id
  /// decides between two of one instant.
  private static func cohort(
    _ facts: borrowing CustomerFacts, _ transactions: [ReportedTransaction]
  ) -> Posting.Cohort? {
    var first: Int?
    for index in transactions.indices where !transactions[index].isShared {
      guard let price = transactions[index].price, price > 0, transactions[index].currency != nil else {
        continue
      }
      if let first,
        (facts.transactions[first].purchaseDate, facts.transactions[first].transactionID)
          <= (facts.transactions[index].purchaseDate, facts.transactions[index].transactionID)
      {
        continue
      }
      first = index
    }
    return first.map { index in
      Posting.Cohort(
        day: ReportDay(facts.transactions[index].purchaseDate),
        dimensions: transactions[index].dimensions)
    }
  }

  /// Adds a period, unless it was withdrawn before it began: Apple charges a renewal up to a day early.
  private static func add(
    _ index: Int, _ facts: borrowing CustomerFacts, _ transactions: [ReportedTransaction],
    to periods: inout [SubscriptionPeriod]
  ) {
    let bought = facts.transactions[index].purchaseDate
    if let revoked = transactions[index].revocationDate, revoked < bought {
      if !periods.isEmpty { periods[periods.count - 1].withdrawn.append(bought) }
      return
    }
    guard let period = SubscriptionPeriod(index, facts, transactions) else { return }
    guard let last = periods.last, facts.isReplaced(period, byUpgradeTo: last) else {
      periods.append(period)
      return
    }
    periods[periods.count - 1].replaced.append(period)
    if periods.count > 1 { periods[periods.count - 2].withdrawn.append(period.start) }
  }

  /// Sets the length of each period: the stated one; of an offer that is paid up front, the offer's; of products and offers
  /// without one, that of the dates. Extensions make periods longer only and not all of them are visible, so the shortest
  /// one of a product counts, unless no extension explains a longer one.
  private static func setDurations(
    _ lines: [SubscriptionLine], _ facts: borrowing CustomerFacts, _ app: borrowing AppDefinition
  ) {
    if setStatedDurations(lines, facts, app) { return }
    var shortest: [String: PeriodLength] = [:]
    var days: [[Int64]] = []
    for line in lines {
      let periods = line.periods
      var ofLine: [Int64] = []
      for (position, period) in periods.enumerated() {
        // A payment that was recovered in the grace period keeps the cycle.
        let before = position > 0 ? periods[position - 1] : nil
        let isKept = before.map { facts.recovery($0.index, period.index) == .inGracePeriod } ?? false
        let start = isKept ? before?.expires ?? period.start : period.start
        ofLine.append(period.paidUntil.milliseconds(since: start) / ReportDay.length)
        guard period.standardDuration == nil, period.dimensions.offerKind.isEmpty,
          !facts.hasOwnLength(period), let length = PeriodLength(days: ofLine[position])
        else { continue }
        let known = shortest[period.dimensions.productID] ?? length
        shortest[period.dimensions.productID] = known.perYear > length.perYear ? known : length
      }
      days.append(ofLine)
    }
    for (line, ofLine) in zip(lines, days) {
      for (period, days) in zip(line.periods, ofLine) {
        let stated = period.standardDuration
        let isUpFront = facts.transactions[period.index].offerDiscountType == .payUpFront
        let offer = facts.transactions[period.index].inDetails { $0.offerPeriod }
        let standard = stated ?? facts.length(of: period, days, shortest[period.dimensions.productID])
        period.duration =
          (isUpFront ? offer.flatMap(PeriodLength.init(rawValue:)) : standard) ?? PeriodLength(days: days)
          ?? stated
        period.standardDuration = standard
      }
    }
  }

  /// Sets the length of each period to the stated one: a month for a payment of a commitment, otherwise the catalog's.
  ///
  /// - Returns: whether each has it; otherwise it is not the length of all of them.
  private static func setStatedDurations(
    _ lines: [SubscriptionLine], _ facts: borrowing CustomerFacts, _ app: borrowing AppDefinition
  ) -> Bool {
    var isStated = true
    // Most periods are of the product of the one before.
    var known: (productID: String, length: PeriodLength?) = ("", nil)
    for line in lines {
      for period in line.periods {
        let productID = period.dimensions.productID
        if known.productID != productID {
          known = (productID, app.products[productID]?.price.flatMap { PeriodLength($0.period) })
        }
        // The catalog has the period of the plan that is paid up front.
        let length = period.isOfCommitment ? .month : known.length
        (period.duration, period.standardDuration) = (length, length)
        if length == nil || facts.transactions[period.index].offerDiscountType == .payUpFront {
          isStated = false
        }
      }
    }
    return isStated
  }
}

extension CustomerFacts {
  /// The length of the standard periods of a subscription, by the days of one of them and the product's shortest period; `nil`
  /// if they do not determine it.
  fileprivate func length(
    of period: SubscriptionPeriod, _ days: Int64, _ shortest: PeriodLength?
  ) -> PeriodLength? {
    if hasOwnLength(period) { return period.isTrial ? nil : PeriodLength(days: days) }
    guard let shortest, period.dimensions.offerKind.isEmpty, !shortest.mayBeExtended(toDays: days) else {
      return shortest
    }
    return PeriodLength(days: days)
  }

  /// Whether the length of a period says nothing about others of its product: one product stands for Advanced Commerce
  /// subscriptions of all lengths.
  fileprivate func hasOwnLength(_ period: SubscriptionPeriod) -> Bool {
    transactions[period.index].inDetails { $0.isAdvancedCommerce }
  }

  /// Whether an upgrade took the place of a renewal before it began: Apple charges a renewal up to a day early. The
  /// notification of the upgrade has the new transaction only, so a document of the renewal may be older than it.
  fileprivate func isReplaced(
    _ period: SubscriptionPeriod, byUpgradeTo previous: SubscriptionPeriod
  ) -> Bool {
    period.start < previous.expires
      && transactions[previous.index].hasOtherPlan(than: transactions[period.index])
      && (transactions[period.index].isUpgraded || transactions[period.index].signedDate < previous.start)
      && period.reason == .renewal
  }
}
