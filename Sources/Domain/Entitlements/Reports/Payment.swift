package import AppStore

/// Money for one purchase or period, or back from it.
package struct Payment: Hashable, Sendable {
  /// When it was paid, or given back.
  package let at: Instant
  /// What for.
  package let productID: String
  /// Which purchase.
  package let transactionID: String
  /// What the customer paid, in thousandths of the currency; negative for what was given back.
  package let price: Int64
  /// What Apple leaves the operator of it, an estimate: taxes and programmes for small businesses are not
  /// known here.
  package let proceeds: Int64
  /// ISO 4217.
  package let currency: String

  /// What was paid and given back in `times` for the customer's own purchases, as far as Apple said prices.
  package static func all(
    _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, during times: Range<Instant>
  ) -> [Payment] {
    let groups = SubscriptionGroups(facts, in: app)
    var payments: [Payment] = []
    for index in facts.transactions.indices where !facts.transactions[index].isShared {
      let transaction = facts.transactions[index]
      guard let price = transaction.details.price, let currency = transaction.details.currency else {
        continue
      }
      let revoked = transaction.revocationType == .familyRevoke ? nil : transaction.revocationDate
      guard times.contains(transaction.purchaseDate) || revoked.map(times.contains) ?? false else { continue }
      let share = share(of: index, facts, groups)
      func add(_ price: Int64, at instant: Instant) {
        guard times.contains(instant) else { return }
        payments.append(
          Payment(
            at: instant, productID: transaction.productID, transactionID: transaction.transactionID,
            price: price, proceeds: part(share, of: price), currency: currency))
      }
      add(price, at: transaction.purchaseDate)
      // The share given back is in thousandths of a percent.
      let refunded = part(transaction.details.revocationPercentage ?? 100_000, of: price)
      if let revoked { add(-refunded, at: revoked) }
    }
    return payments
  }

  /// Apple keeps 30 %, and 15 % of a subscription once its group was paid for for a year. In thousandths of
  /// a percent, as Apple counts.
  private static func share(
    of index: Int, _ facts: borrowing CustomerFacts, _ groups: SubscriptionGroups
  ) -> Int64 {
    guard let group = groups.group(of: facts.transactions[index]) else { return 70_000 }
    let ofGroup = facts.transactions.indices.filter { groups.group(of: facts.transactions[$0]) == group }
    let paid = PaidService.milliseconds(ofGroup, facts, upTo: facts.transactions[index].purchaseDate)
    return paid >= PaidService.year ? 85_000 : 70_000
  }

  /// So many thousandths of a percent of `price`, rounded towards zero; whole where it cannot be told.
  private static func part(_ share: Int64, of price: Int64) -> Int64 {
    let (product, overflow) = price.multipliedReportingOverflow(by: min(max(0, share), 100_000))
    return overflow ? price : product / 100_000
  }
}
