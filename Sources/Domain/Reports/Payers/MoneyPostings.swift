internal import AppStore
internal import Entitlements

/// The charges and refunds of a payer.
struct MoneyPostings {
  private(set) var postings: [Posting] = []

  init(_ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory) {
    let cohort = history.cohort
    // Those in which the payer was charged; mostly one.
    var currencies: [String] = []
    var buckets = ChargeBuckets()
    // With room for the payer, and for charges after a year.
    postings.reserveCapacity(1 + 2 * history.transactions.count)
    for index in Self.ownInOrder(facts, history.transactions) {
      guard let price = history.transactions[index].price,
        let currency = history.transactions[index].currency
      else {
        if facts.transactions[index].offerDiscountType != .freeTrial {
          postings.append(
            Self.unpriced(facts.transactions[index], history.transactions[index].dimensions))
        }
        continue
      }
      guard price > 0 else { continue }
      let bought = facts.transactions[index].purchaseDate
      let charge = Posting(
        .charge, at: bought, line: facts.transactions[index].originalTransactionID,
        transactionID: facts.transactions[index].transactionID, history.transactions[index].dimensions)
      let day = ReportDay(bought)
      let ofDay = cohort?.at(day)
      if !currencies.contains(currency) {
        currencies.append(currency)
        postings.append(
          charge.with { ($0.kind, $0.count, $0.cohort, $0.currency) = (.payer, 1, ofDay, currency) })
      }
      // Completed in its place: most charges are needed nowhere else, and a copy has several reference counts.
      let place = postings.count
      postings.append(charge)
      let group = history.transactions[index].dimensions.group
      let share = history.paidYears.share(of: group, at: bought)
      postings[place].reason = facts.transactions[index].type.reportName
      postings[place].count = 1
      postings[place].amount = price
      postings[place].currency = currency
      postings[place].proceeds = Share.part(share, of: price)
      postings[place].cohort = ofDay
      postings[place].marks = buckets.marks(ofChargeOn: day)
      if history.paidYears.isPast(group, at: bought) {
        postings.append(
          postings[place].with {
            ($0.kind, $0.amount, $0.proceeds, $0.currency) = (.chargeAfterYear, 0, 0, "")
            ($0.cohort, $0.marks) = (nil, 0)
          })
      }
      if history.transactions[index].isRefunded {
        addRefunds(
          of: postings[place], facts.transactions[index], share,
          withRest: !history.transactions[index].hasUnstatedReturn)
      }
    }
  }

  /// The indices of the transactions that the payer bought, in order of their time.
  private static func ownInOrder(
    _ facts: borrowing CustomerFacts, _ transactions: [ReportedTransaction]
  ) -> [Int] {
    let own = transactions.indices.filter { !transactions[$0].isShared }
    // Those of one purchase are in order.
    let isInOrder = zip(own, own.dropFirst()).allSatisfy {
      facts.transactions[$0].purchaseDate < facts.transactions[$1].purchaseDate
    }
    if isInOrder { return own }
    return own.sorted {
      (facts.transactions[$0].purchaseDate, facts.transactions[$0].transactionID)
        < (facts.transactions[$1].purchaseDate, facts.transactions[$1].transactionID)
    }
  }

  /// Adds the refunds of a charge, those that Apple reversed too, with their reversals.
  ///
  /// - withRest: whether the part that is revoked, besides refunds of seats, is a refund.
  private mutating func addRefunds(
    of charge: Posting, _ fact: TransactionFact, _ share: Int64, withRest: Bool
  ) {
    for past in fact.reversedRefunds {
      let refund = TransactionFact.Refund(past.refund, of: charge.amount)
      add(.refund, refund, of: charge, fact, share)
      add(.refundReversed, refund.moved(to: past.reversedAt), of: charge, fact, share)
      addRefunded(1, charge, at: refund.at)
      addRefunded(-1, charge, at: past.reversedAt)
    }
    let refunds = fact.refunds(of: charge.amount, withRest: withRest)
    for refund in refunds { add(.refund, refund, of: charge, fact, share) }
    if let first = refunds.first { addRefunded(1, charge, at: first.at) }
  }

  /// Adds a refund or its reversal, with the estimated share that the charge had.
  private mutating func add(
    _ kind: Posting.Kind, _ refund: TransactionFact.Refund, of charge: Posting, _ fact: TransactionFact,
    _ share: Int64
  ) {
    let sign: Int64 = kind == .refund ? -1 : 1
    postings.append(
      charge.with {
        $0.kind = kind
        $0.effectiveAt = refund.at
        $0.amount = sign * refund.price
        $0.proceeds = sign * Share.part(share, of: refund.price)
        $0.reason =
          (fact.isSubscription ? "" : RefundReason.oneTime) + refund.kind
          + (refund.isAppIssue ? RefundReason.appIssue : "")
        $0.cohort = charge.cohort?.at(ReportDay(refund.at))
        $0.marks = 0
      })
  }

  /// Counts a transaction that is refunded from an instant on, or no longer.
  private mutating func addRefunded(_ count: Int64, _ charge: Posting, at instant: Instant) {
    postings.append(
      Posting(
        .refundOfPurchase, at: instant, line: charge.line, transactionID: charge.transactionID,
        charge.dimensions
      ).with {
        ($0.count, $0.currency) = (count, charge.currency)
        $0.cohort = Posting.Cohort(day: ReportDay(charge.effectiveAt), dimensions: charge.dimensions)
      })
  }

  /// The posting of a purchase without a price, so that a report can state how many are missing in its
  /// amounts.
  private static func unpriced(_ fact: TransactionFact, _ dimensions: Posting.Dimensions) -> Posting {
    Posting(
      .unpriced, at: fact.purchaseDate, line: fact.originalTransactionID, transactionID: fact.transactionID,
      dimensions
    ).with {
      $0.count = 1
      $0.reason = fact.type.reportName
    }
  }
}

/// The buckets in which a payer was charged last.
private struct ChargeBuckets {
  /// By granularity.
  private var last: [ReportDay?] = Array(repeating: nil, count: Granularity.allCases.count)
  private var lastDay: ReportDay?

  /// The ``Posting/marks`` of the next charge: a bit for each granularity in whose bucket it is the payer's first one.
  mutating func marks(ofChargeOn day: ReportDay) -> Int64 {
    guard day != lastDay else { return 0 }
    lastDay = day
    let date = CalendarTime(day.start)
    var marks: Int64 = 0
    for (index, granularity) in Granularity.allCases.enumerated() {
      let bucket = granularity.firstDay(of: day, date)
      if last[index] != bucket { marks |= 1 << granularity.rawValue }
      last[index] = bucket
    }
    return marks
  }
}

extension Posting {
  func with(_ change: (inout Posting) -> Void) -> Posting {
    var posting = self
    change(&posting)
    return posting
  }
}

extension Posting.Cohort {
  /// The cohort with the age, in calendar months, that it has on `day`.
  func at(_ day: ReportDay) -> Posting.Cohort {
    var cohort = self
    cohort.age = day.months(since: self.day)
    return cohort
  }
}

extension TransactionFact {
  /// The prices in thousandths that reports add up. Others are as good as unknown: the documents of Xcode and of a sandbox
  /// can state any number, and sums must not overflow.
  static let reportedPrices: ClosedRange<Int64> = 0...10_000_000_000_000

  /// The price of the purchase, with all its seats; `nil` if it is not known.
  var reportedPrice: Int64? { totalPrice.flatMap { Self.reportedPrices.contains($0) ? $0 : nil } }

  /// A refund, or one of several refunds of seats.
  fileprivate struct Refund {
    let at: Instant
    let price: Int64
    /// `FULL`, `PRORATED` or `SEATS`.
    let kind: String
    let isAppIssue: Bool

    init(at instant: Instant, price: Int64, kind: String, isAppIssue: Bool) {
      (at, self.price, self.kind, self.isAppIssue) = (instant, price, kind, isAppIssue)
    }

    init(_ refund: TransactionDetails.Refund, of total: Int64) {
      let percentage = refund.percentage ?? Share.whole
      self.init(
        at: refund.date, price: Share.part(percentage, of: total),
        kind: percentage < Share.whole ? "PRORATED" : "FULL", isAppIssue: refund.isAppIssue)
    }

    /// The refund at another time.
    func moved(to instant: Instant) -> Refund {
      Refund(at: instant, price: price, kind: kind, isAppIssue: isAppIssue)
    }
  }

  /// The refunds of a purchase that cost `total`: of seats as Apple reported them, then of the rest.
  fileprivate func refunds(of total: Int64, withRest: Bool) -> [Refund] {
    guard revocationType != .familyRevoke, let refundedAt else { return [] }
    let seats = min(max(0, revokedSeatQuantity ?? 0), quantity)
    var refunds: [Refund] = []
    var refunded: Int64 = 0
    func refund(_ sum: Int64, at instant: Instant, _ kind: String) {
      guard sum > refunded || refunds.isEmpty else { return }
      let isAppIssue = revocationReason == .appIssue
      refunds.append(Refund(at: instant, price: sum - refunded, kind: kind, isAppIssue: isAppIssue))
      refunded = sum
    }
    // A date shows that the rest was refunded, too.
    let hasRest = revocationDate != nil || !(1..<quantity).contains(seats)
    let lastStep = hasRest ? min(seats, quantity - 1) : seats - 1
    for step in details.seatRefunds where step.quantity <= lastStep {
      let price = Share.quotient(of: total, times: step.quantity, by: quantity)
      refund(price, at: min(step.reportedAt, refundedAt), "SEATS")
    }
    if !hasRest {
      refund(Share.quotient(of: total, times: seats, by: quantity), at: refundedAt, "SEATS")
    } else if withRest {
      let percentage = details.revocationPercentage ?? Share.whole
      let isPart = percentage < Share.whole || revocationType == .refundProrated
      refund(Share.part(percentage, of: total), at: refundedAt, isPart ? "PRORATED" : "FULL")
    }
    return refunds
  }
}

extension ProductType {
  fileprivate var reportName: String {
    switch self {
    case .autoRenewableSubscription: "SUBSCRIPTION"
    case .nonConsumable: "NON_CONSUMABLE"
    case .consumable: "CONSUMABLE"
    case .nonRenewingSubscription: "NON_RENEWING_SUBSCRIPTION"
    case .unrecognized(let name): name
    }
  }
}
