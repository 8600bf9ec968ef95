internal import AppStore
internal import Entitlements

/// One period of a purchaser's own subscription, as reports count it. It is complete when ``PayerHistory`` is, and then never
/// changes; a structure would be copied for each posting, with all its texts.
final class SubscriptionPeriod {
  /// The index of the transaction that stands for the period.
  let index: Int
  let transactionID: String
  let start: Instant
  /// The end that was paid for, extensions included.
  let expires: Instant
  /// The end before the extensions.
  let paidUntil: Instant
  /// When a refund ended it.
  let refundedAt: Instant?
  let dimensions: Posting.Dimensions
  /// Whether it was free: a trial of any offer, or an offer at no price.
  let isTrial: Bool
  /// The price of the period, with all its seats; 0 if it is unknown.
  let price: Int64
  let currency: String
  let seats: Int64
  /// The seats that were added after the start, in order; part of ``price`` and ``seats``.
  let additions: [SeatAddition]
  let commitment: TransactionDetails.Commitment?
  /// Whether it is a monthly payment of a commitment.
  let isOfCommitment: Bool
  /// Whether the customer bought it or Apple renewed it; `nil` if Apple's document does not say.
  let reason: TransactionReason?
  /// The time for which Apple retries a failed renewal of the period, in milliseconds.
  let retryLength: Int64
  /// Refunds that ended it, each reversed by Apple at its `end`, in order.
  let reversedRefunds: [(start: Instant, end: Instant)]
  /// The starts of renewals that were charged during the period and refunded or replaced before they began.
  var withdrawn: [Instant] = []
  /// Charged renewals that the purchase of this period replaced before they began.
  var replaced: [SubscriptionPeriod] = []
  /// The period's length as Apple names it; `nil` if Apple's documents do not determine it.
  var duration: PeriodLength?
  /// The length of the product's periods without an offer that is paid up front.
  var standardDuration: PeriodLength?

  /// Whether the customer bought it; `false` for a renewal, and if Apple's document does not say.
  var isPurchase: Bool { reason == .purchase }

  /// The price with the seats that the period has at an instant.
  private func price(at instant: Instant) -> Int64 {
    additions.reduce(price) { instant < $1.start ? $0 &- $1.price : $0 }
  }

  /// The seats at an instant.
  func seats(at instant: Instant) -> Int64 {
    additions.reduce(seats) { instant < $1.start ? $0 &- $1.seats : $0 }
  }

  /// The recurring revenue at an instant, in thousandths a year.
  func annual(at instant: Instant) -> Int64 {
    isTrial ? 0 : price(at: instant).times(duration?.perYear ?? 0)
  }

  /// The price of the instalments that are still to come at an instant.
  func remainder(at instant: Instant) -> Int64 {
    guard let commitment else { return 0 }
    let (open, overflow) = commitment.totalBillingPeriods.subtractingReportingOverflow(
      commitment.billingPeriodNumber)
    return overflow ? 0 : price(at: instant).times(max(0, open))
  }

  init?(_ index: Int, _ facts: borrowing CustomerFacts, _ transactions: [ReportedTransaction]) {
    guard facts.beginning(ofPeriodAt: index) == index else { return nil }
    let start = facts.transactions[index].purchaseDate
    var additions: [SeatAddition] = []
    var end: Instant?
    var paidUntil: Instant?
    var (price, isPriced, seats) = (Int64(0), false, Int64(0))
    for part in facts.period(at: index) {
      if let expires = facts.transactions[part].expiresDate { end = max(end ?? expires, expires) }
      if let paid = transactions[part].firstEnd { paidUntil = max(paidUntil ?? paid, paid) }
      let priceOfPart = transactions[part].price ?? 0
      if transactions[part].price != nil { (price, isPriced) = (price &+ priceOfPart, true) }
      let seatsOfPart = facts.transactions[part].quantity
      seats &+= seatsOfPart
      let bought = facts.transactions[part].purchaseDate
      if bought > start {
        additions.append(SeatAddition(start: bought, price: priceOfPart, seats: seatsOfPart))
      }
    }
    let standing = facts.standing(ofPeriodAt: index)
    guard let expires = end, !transactions[standing].isContradictory else { return nil }
    self.index = standing
    self.expires = expires
    self.paidUntil = paidUntil ?? expires
    self.start = start
    transactionID = facts.transactions[index].transactionID
    refundedAt = transactions[standing].revocationDate
    dimensions = transactions[standing].dimensions
    (self.price, self.seats, self.additions) = (price, seats, additions)
    currency = transactions[standing].currency ?? ""
    commitment = transactions[standing].commitment
    isOfCommitment = transactions[standing].isOfCommitment
    reason = transactions[standing].reason
    retryLength = transactions[standing].retryLength
    let isFreeTrial = facts.transactions[standing].offerDiscountType == .freeTrial
    isTrial = isFreeTrial || (isPriced && price == 0)
    let reversed = transactions[standing].isRefunded ? facts.transactions[standing].reversedRefunds : []
    var refunds: [(start: Instant, end: Instant)] = []
    // A refund before the reversal of another one ended nothing.
    for (refund, end) in reversed where (refunds.last?.end ?? start) <= refund.date && refund.date < expires {
      refunds.append((refund.date, end))
    }
    reversedRefunds = refunds
  }
}

/// Seats that a customer added to a running period.
struct SeatAddition {
  let start: Instant
  /// Of these seats; 0 if it is unknown.
  let price: Int64
  let seats: Int64
}

extension Int64 {
  /// The product; 0 on overflow, because no amount of money is that large.
  fileprivate func times(_ factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? 0 : product
  }
}

/// The length of the first paid period of a subscription and that of the later ones, as the reason of
/// ``Posting/Kind/joinedCohort``: `P1M`, or `P6M P1Y` after half a year that was paid up front.
struct CohortLength {
  let first: PeriodLength?
  let later: PeriodLength?

  init(_ period: SubscriptionPeriod) {
    first = period.duration
    later = period.standardDuration ?? period.duration
  }

  init(_ text: String) {
    let lengths = text.split(separator: " ").map { PeriodLength(rawValue: String($0)) }
    first = lengths.first ?? nil
    later = lengths.last ?? nil
  }

  var text: String {
    let names = first == later ? [first] : [first, later]
    return names.compactMap { $0?.rawValue }.joined(separator: " ")
  }

  /// The day on which period `number`, from 1, begins; `nil` if it is not certain.
  func day(ofPeriod number: Int64, from day: ReportDay) -> ReportDay? {
    if number == 1 { return day }
    guard let next = first?.day(after: 1, from: day) else { return nil }
    // Months are reckoned from the first day, so that the 31st stays the 31st.
    if first == later { return first?.day(after: number - 1, from: day) }
    return number == 2 ? next : later?.day(after: number - 2, from: next)
  }
}

/// The lengths of subscription periods that Apple sells.
enum PeriodLength: String, CaseIterable {
  case week = "P1W"
  case month = "P1M"
  case twoMonths = "P2M"
  case threeMonths = "P3M"
  case sixMonths = "P6M"
  case year = "P1Y"

  /// The number of such periods in a year. A year has 52 weeks.
  var perYear: Int64 {
    switch self {
    case .week: 52
    case .month: 12
    case .twoMonths: 6
    case .threeMonths: 4
    case .sixMonths: 2
    case .year: 1
    }
  }

  /// The length that the catalog states; `nil` for one that Apple does not sell.
  init?(_ period: Period) {
    switch (period.months, period.days) {
    case (0, 7): self = .week
    case (1, 0): self = .month
    case (2, 0): self = .twoMonths
    case (3, 0): self = .threeMonths
    case (6, 0): self = .sixMonths
    case (12, 0): self = .year
    default: return nil
    }
  }

  /// The length that is nearest to a number of days; `nil` for fewer than six, as in Apple's sandbox, where a month lasts
  /// minutes.
  init?(days: Int64) {
    switch days {
    case 6..<14: self = .week
    case 14..<46: self = .month
    case 46..<76: self = .twoMonths
    case 76..<136: self = .threeMonths
    case 136..<271: self = .sixMonths
    case 271...: self = .year
    default: return nil
    }
  }

  /// Whether an extension can explain a period of this length with a number of days: Apple extends one at most twice a year,
  /// each time by at most 90 days.
  func mayBeExtended(toDays days: Int64) -> Bool { days <= 366 / perYear + 2 * 90 }
}

extension Posting.Dimensions {
  init(_ fact: TransactionFact, _ groups: borrowing SubscriptionGroups) {
    self.init(
      productID: fact.productID, group: groups.group(of: fact) ?? "",
      storefront: fact.inDetails { $0.storefront } ?? "", offerKind: fact.offerKind)
  }
}

extension TransactionFact {
  /// The offer and how it is paid; empty without an offer.
  fileprivate var offerKind: String {
    guard offerType != nil || offerDiscountType == .freeTrial else { return "" }
    let type =
      switch offerType {
      case .introductory?, nil: "INTRODUCTORY"
      case .promotional?: "PROMOTIONAL"
      case .offerCode?: "OFFER_CODE"
      case .winBack?: "WIN_BACK"
      case .retention?: "RETENTION"
      case .unrecognized(let code)?: "OFFER_\(code)"
      }
    return offerDiscountType.map { "\(type)_\($0.rawValue)" } ?? type
  }
}
