internal import AppStore

/// A charge or a refund, as reports of sales state it.
struct ReportedSale: Hashable, Sendable {
  let sold: SoldTransaction
  let at: Instant
  /// The number of pieces; 0 for a refund of a part of the price.
  let units: Int64
  /// The price of one piece, in thousandths; negative for a refund.
  let price: Int64
  let isAfterOneYear: Bool

  /// A charge is positive, because free transactions are not reported.
  var isRefund: Bool { price < 0 }

  /// The developer's part of one piece, in thousandths: 70 %, and 85 % after one year of paid service.
  var proceeds: Int64 { price * (isAfterOneYear ? 85 : 70) / 100 }
}

extension World {
  /// The charges and refunds in a span of time, in the order of the transactions.
  func sales(of app: String, in span: Range<Instant>) -> [ReportedSale] {
    let ids = transactions.keys.filter { transactions[$0].map { $0.app == app } ?? false }.sorted()
    let paidInGrace = Dictionary(
      records.filter(\.isPaidInGrace).map { ($0.current, $0.at) }, uniquingKeysWith: { $1 })
    return ids.flatMap { id -> [ReportedSale] in
      guard let sold = transactions[id], sold.ownership == .purchased, sold.purchaseDate <= now else {
        return []
      }
      let charges = charges(sold, at: paidInGrace[id] ?? sold.purchaseDate)
      return charges.filter { span.contains($0.at) } + refunds(sold).filter { span.contains($0.at) }
    }
  }

  /// The charge of a transaction: one for each price of its pieces; none for a free one.
  private func charges(_ sold: SoldTransaction, at instant: Instant) -> [ReportedSale] {
    pieces(of: sold).filter { $0.price > 0 }.map {
      ReportedSale(
        sold: sold, at: instant, units: $0.quantity, price: $0.price,
        isAfterOneYear: isAfterOneYear(sold))
    }
  }

  /// Apple reports a refund on its day, whether it is reversed later or not.
  private func refunds(_ sold: SoldTransaction) -> [ReportedSale] {
    let revocations = sold.reversedRefunds + (sold.revocation.map { [$0] } ?? [])
    return revocations.filter { $0.type != .familyRevoke }.flatMap { refund($0, of: sold) }
  }

  /// A full refund takes back each charge; a part of one is an amount without units.
  private func refund(_ revocation: SoldTransaction.Revocation, of sold: SoldTransaction) -> [ReportedSale] {
    guard let percentage = revocation.percentage, percentage < .wholePercentage else {
      return charges(sold, at: revocation.date).map {
        ReportedSale(
          sold: sold, at: $0.at, units: -$0.units, price: -$0.price,
          isAfterOneYear: $0.isAfterOneYear)
      }
    }
    let total = charges(sold, at: revocation.date).reduce(0) { $0 + $1.units * $1.price }
    // The product may be no number; the quotient is less than the total.
    let (part, _) = Int64.wholePercentage.dividingFullWidth(total.multipliedFullWidth(by: percentage))
    return [
      ReportedSale(
        sold: sold, at: revocation.date, units: 0, price: -part,
        isAfterOneYear: isAfterOneYear(sold))
    ]
  }

  /// The pieces of a transaction at one price each.
  private func pieces(of sold: SoldTransaction) -> [SeatPriceTier] {
    if let seats = sold.seats { return seats.tiers }
    let quantity = max(1, sold.quantity)
    // A transaction of a product that can be bought several times at once has the price of all.
    return [SeatPriceTier(price: sold.price / quantity, quantity: quantity)]
  }

  /// Whether the account has paid for the group for a year before the transaction, without a pause of more than 60 days
  /// (Apple: "Auto-renewable subscriptions", net revenue structure). The days of an extension do not count (Apple:
  /// "Extending the renewal date for auto-renewable subscriptions").
  func isAfterOneYear(_ sold: SoldTransaction) -> Bool {
    guard let group = lines[sold.originalID]?.group else { return false }
    let day = Instant.millisecondsPerDay
    var (paid, coveredUntil) = (Int64(0), Instant?.none)
    let earlier = purchases(of: sold.account, in: sold.app).filter {
      $0.ownership == .purchased && $0.purchaseDate < sold.purchaseDate
        && lines[$0.originalID]?.group == group
    }.sorted { $0.purchaseDate < $1.purchaseDate }
    for (index, period) in earlier.enumerated() {
      let next = index + 1 < earlier.count ? earlier[index + 1].purchaseDate : sold.purchaseDate
      var end = period.expiresDate ?? period.purchaseDate
      if period.isUpgraded { end = min(end, next) }
      if let revocation = period.revocation { end = min(end, revocation.date) }
      if let coveredUntil, period.purchaseDate.milliseconds(since: coveredUntil) > 60 * day { paid = 0 }
      let start = max(period.purchaseDate, coveredUntil ?? period.purchaseDate)
      let paidEnd = min(end, sold.purchaseDate, period.firstExpiresDate ?? end)
      if !period.isTrial { paid += max(0, paidEnd.milliseconds(since: start)) }
      coveredUntil = max(end, coveredUntil ?? end)
    }
    guard let coveredUntil, sold.purchaseDate.milliseconds(since: coveredUntil) <= 60 * day else {
      return false
    }
    return paid >= 365 * day
  }
}
