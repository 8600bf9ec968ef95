extension [LegacyPurchase] {
  /// The purchases of an account with the dates at which upgrades replaced periods.
  ///
  /// Signed transactions have no such date. The cancellation date of an upgraded period is "the time and date of the
  /// upgrade transaction" (Apple, Receipt Fields), with the reason 0.
  package var withUpgradesDated: [LegacyPurchase] {
    guard contains(where: \.isUpgraded) else { return self }
    let lines = Dictionary(grouping: self, by: \.originalTransactionID).mapValues(UpgradeDates.init)
    return map { purchase in
      guard purchase.isUpgraded, purchase.cancellation == nil,
        let date = lines[purchase.originalTransactionID]?.date(of: purchase)
      else { return purchase }
      var dated = purchase
      dated.cancellation = .init(date: date, reason: .other)
      return dated
    }
  }
}

/// The upgrades of one purchase line.
private struct UpgradeDates {
  private let all: PeriodIndex<LegacyPurchase.Plan>
  /// Without the renewals that an upgrade replaced before they started, which replace nothing.
  private let inForce: PeriodIndex<LegacyPurchase.Plan>

  init(_ line: [LegacyPurchase]) {
    let all = PeriodIndex(line.compactMap(\.period))
    self.all = all
    inForce = PeriodIndex(line.filter { $0.upgradeDateBeforeStart(in: all) == nil }.compactMap(\.period))
  }

  /// When another purchase replaced an upgraded period; `nil` if that purchase is not in the line.
  func date(of purchase: LegacyPurchase) -> Instant? {
    guard let plan = purchase.plan, let start = purchase.purchaseDate else { return nil }
    if let date = purchase.upgradeDateBeforeStart(in: all) { return date }
    let later = inForce.positions(
      afterPeriod: purchase.transactionID, startingAt: start, before: plan.end)
    return inForce.firstStart(in: later, besides: plan)
  }
}

extension LegacyPurchase {
  /// What distinguishes a period from one that can replace it: that is of another product or, after a change of the
  /// billing plan of one product, has another end. Added seats end with their period.
  fileprivate struct Plan: Equatable {
    let productID: String
    let end: Instant
  }

  fileprivate var plan: Plan? { expiresDate.map { Plan(productID: productID, end: $0) } }

  fileprivate var period: PeriodIndex<Plan>.Period? {
    guard let plan, let purchaseDate else { return nil }
    return .init(transactionID: transactionID, plan: plan, start: purchaseDate, end: plan.end)
  }

  /// When an upgrade replaced this renewal, if it was charged before the upgrade and starts later.
  fileprivate func upgradeDateBeforeStart(in line: PeriodIndex<Plan>) -> Instant? {
    guard isUpgraded, let plan, let start = purchaseDate,
      let renewed = line.start(ofPeriodEndingAt: start)
    else { return nil }
    return line.lastStart(
      in: line.positions(after: renewed, before: start), besides: plan, endingAfter: start)
  }
}
