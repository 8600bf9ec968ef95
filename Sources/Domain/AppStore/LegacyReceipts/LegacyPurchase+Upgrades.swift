extension [LegacyPurchase] {
  /// The purchases of an account with the dates at which upgrades replaced periods.
  ///
  /// Signed transactions have no such date. The cancellation date of an upgraded period is "the time and date of the
  /// upgrade transaction" (Apple, Receipt Fields), with the reason 0.
  package var withUpgradesDated: [LegacyPurchase] {
    guard contains(where: \.isUpgraded) else { return self }
    let lines = Dictionary(grouping: self, by: \.originalTransactionID)
    return map { purchase in
      guard purchase.isUpgraded, purchase.cancellation == nil,
        let date = purchase.upgradeDate(in: lines[purchase.originalTransactionID] ?? [])
      else { return purchase }
      var dated = purchase
      dated.cancellation = .init(date: date, reason: .other)
      return dated
    }
  }
}

extension LegacyPurchase {
  /// When another purchase of its line replaced this upgraded period; `nil` if that purchase is not in `line`.
  fileprivate func upgradeDate(in line: [LegacyPurchase]) -> Instant? {
    guard let start = purchaseDate, let end = expiresDate else { return nil }
    if let date = upgradeDateBeforeStart(in: line) { return date }
    return line.filter { other in
      guard other.isReplacement(of: self), let date = other.purchaseDate, date < end else { return false }
      let isLater = date > start || date == start && isLowerIdentifier(transactionID, other.transactionID)
      return isLater && other.upgradeDateBeforeStart(in: line) == nil
    }.compactMap(\.purchaseDate).min()
  }

  /// Whether it can replace the period of `other`: it is of another product or, after a change of the billing plan of one
  /// product, has another end. Added seats end with their period.
  private func isReplacement(of other: LegacyPurchase) -> Bool {
    productID != other.productID || expiresDate != nil && expiresDate != other.expiresDate
  }

  /// When an upgrade replaced this renewal, if it was charged before the upgrade and starts later.
  private func upgradeDateBeforeStart(in line: [LegacyPurchase]) -> Instant? {
    guard isUpgraded, let start = purchaseDate,
      let renewed = line.first(where: { $0.expiresDate == start })?.purchaseDate
    else { return nil }
    return line.filter { other in
      guard other.isReplacement(of: self), let date = other.purchaseDate, let end = other.expiresDate else {
        return false
      }
      return renewed < date && date < start && start < end
    }.compactMap(\.purchaseDate).max()
  }
}
