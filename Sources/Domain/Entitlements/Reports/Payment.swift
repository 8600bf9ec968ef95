package import AppStore

/// A payment for one purchase or period, or a refund of one.
package struct Payment: Hashable, Sendable {
  /// When it was paid or refunded.
  package let at: Instant
  /// The App Store product id.
  package let productID: String
  /// Apple's `transactionId`.
  package let transactionID: String
  /// The price in milliunits of ``currency``; negative for a refund.
  package let price: Int64
  /// The estimated proceeds in milliunits: the price less Apple's commission of 30 %, or 15 % after one year.
  /// Taxes and the Small Business Program are not considered.
  package let proceeds: Int64
  /// ISO 4217.
  package let currency: String

  /// Returns the payments and refunds during `times` of the customer's own purchases for which Apple sent a
  /// price.
  package static func all(
    _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, during times: Range<Instant>
  ) -> [Payment] {
    let facts = facts.withoutCopies
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
      // `revocationPercentage` is in thousandths of a percent.
      let refunded = part(transaction.details.revocationPercentage ?? 100_000, of: price)
      if let revoked { add(-refunded, at: revoked) }
    }
    return payments
  }

  /// The operator's share in thousandths of a percent: 70 %, or 85 % once the subscription group was paid for
  /// one year.
  private static func share(
    of index: Int, _ facts: borrowing CustomerFacts, _ groups: SubscriptionGroups
  ) -> Int64 {
    guard let group = groups.group(of: facts.transactions[index]) else { return 70_000 }
    let ofGroup = facts.transactions.indices.filter { groups.group(of: facts.transactions[$0]) == group }
    let paid = PaidService.milliseconds(ofGroup, facts, upTo: facts.transactions[index].purchaseDate)
    return paid >= PaidService.year ? 85_000 : 70_000
  }

  /// Returns `share` thousandths of a percent of `price`, rounded towards zero; the whole price on overflow.
  private static func part(_ share: Int64, of price: Int64) -> Int64 {
    let (product, overflow) = price.multipliedReportingOverflow(by: min(max(0, share), 100_000))
    return overflow ? price : product / 100_000
  }
}
