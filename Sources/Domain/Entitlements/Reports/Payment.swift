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
    let facts = facts.purchases(in: app)
    let groups = SubscriptionGroups(facts, in: app)
    var payments: [Payment] = []
    for index in facts.transactions.indices where !facts.transactions[index].isShared {
      let transaction = facts.transactions[index]
      guard let price = transaction.totalPrice, let currency = transaction.details.currency else { continue }
      let refunds = transaction.refunds(of: price)
      guard times.contains(transaction.purchaseDate) || refunds.contains(where: { times.contains($0.at) })
      else { continue }
      let share = share(of: index, facts, groups)
      func add(_ price: Int64, at instant: Instant) {
        guard times.contains(instant) else { return }
        payments.append(
          Payment(
            at: instant, productID: transaction.productID, transactionID: transaction.transactionID,
            price: price, proceeds: part(share, of: price), currency: currency))
      }
      add(price, at: transaction.purchaseDate)
      for refund in refunds { add(-refund.price, at: refund.at) }
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
  fileprivate static func part(_ share: Int64, of price: Int64) -> Int64 {
    let (product, overflow) = price.multipliedReportingOverflow(by: min(max(0, share), 100_000))
    return overflow ? price : product / 100_000
  }
}

extension TransactionFact {
  /// The refunds of a purchase that cost `total`: of seats as Apple reported them, then of the rest.
  fileprivate func refunds(of total: Int64) -> [(at: Instant, price: Int64)] {
    guard revocationType != .familyRevoke, let refundedAt else { return [] }
    let seats = min(max(0, revokedSeatQuantity ?? 0), quantity)
    var refunds: [(at: Instant, price: Int64)] = []
    var refunded: Int64 = 0
    func refund(_ sum: Int64, at instant: Instant) {
      guard sum > refunded || refunds.isEmpty else { return }
      refunds.append((instant, sum - refunded))
      refunded = sum
    }
    for step in details.seatRefunds where step.quantity < seats {
      refund(price(ofSeats: step.quantity, total), at: min(step.reportedAt, refundedAt))
    }
    if (1..<quantity).contains(seats) {
      refund(price(ofSeats: seats, total), at: refundedAt)
    } else {
      // `revocationPercentage` is in thousandths of a percent.
      refund(Payment.part(details.revocationPercentage ?? 100_000, of: total), at: refundedAt)
    }
    return refunds
  }

  /// The price of some of the seats: their share of `total`, because Apple does not report which ones are refunded.
  private func price(ofSeats seats: Int64, _ total: Int64) -> Int64 {
    let (product, overflow) = total.multipliedReportingOverflow(by: seats)
    return overflow ? total : product / quantity
  }
}
