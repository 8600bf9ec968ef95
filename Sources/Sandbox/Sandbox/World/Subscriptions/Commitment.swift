internal import AppStore

/// The billing of a subscription (Apple: billingPlanType).
package enum BillingPlan: String, Hashable, Sendable, CaseIterable {
  /// Each period in advance, the default.
  case billedUpfront = "BILLED_UPFRONT"
  /// Monthly payments of a one-year product, with a commitment to twelve of them.
  case monthly = "MONTHLY"
}

/// A subscriber's commitment to twelve monthly payments (Apple: "Supporting monthly subscriptions with a 12-month
/// commitment").
struct Commitment: Hashable, Sendable {
  /// The number of payments.
  static let payments = 12
  /// The storefronts in which Apple does not sell the monthly plan.
  static let excludedStorefronts: Set<String> = ["USA", "SGP"]

  /// The number of the current billing period, 1 to 12.
  private(set) var number = 1
  /// The price of one payment without an offer, in thousandths of the currency.
  var price: Int64
  /// The end of the current billing period.
  private(set) var periodEnd: Instant
  /// The end of the last billing period.
  private(set) var expiresDate: Instant

  /// The day of the month on which payments are due: the start of the billing period ``anchorNumber``.
  private var anchor: Instant
  private var anchorNumber = 1
  /// The rate at which the commitment was sold, which applies to its end.
  private let scale: TimeScale

  /// Begins a commitment with its first payment.
  init(start: Instant, price: Int64, scale: TimeScale) {
    self.price = price
    self.scale = scale
    anchor = start
    periodEnd = start
    expiresDate = start
    schedule()
  }

  /// Whether payments remain after the current billing period.
  var owesPayments: Bool { number < Self.payments }

  /// The price of all payments.
  var total: Int64 { price * Int64(Self.payments) }

  /// Returns the commitment after the next payment, whose billing period begins at `start`.
  ///
  /// After a late payment all later dates shift (Apple: "Managing the life cycle of monthly subscriptions with a
  /// 12-month commitment", billing issues).
  func advanced(startingAt start: Instant) -> Commitment {
    var next = self
    next.number += 1
    if start != periodEnd {
      next.anchor = start
      next.anchorNumber = next.number
    }
    next.schedule()
    return next
  }

  /// Extends the current billing period to `end`, which shifts all later dates.
  mutating func extendPeriod(to end: Instant) {
    anchor = end
    anchorNumber = number + 1
    schedule()
  }

  /// Counts the ends from the anchor and not from the period before, so that a short month shifts no later payment.
  private mutating func schedule() {
    periodEnd = scale.end(ofMonths: number + 1 - anchorNumber, from: anchor)
    expiresDate = scale.end(ofMonths: Self.payments + 1 - anchorNumber, from: anchor)
  }
}

/// The place of a transaction in a commitment, as of its sale (Apple: TransactionCommitmentInfo).
struct CommitmentPayment: Hashable, Sendable {
  /// The number of the billing period, 1 to 12.
  let number: Int
  /// The end of the commitment. A renewal date extension changes it.
  var expiresDate: Instant
  /// The price of all payments, in thousandths of the currency.
  let total: Int64

  /// The payment of the commitment's current billing period.
  init(_ commitment: Commitment) {
    number = commitment.number
    expiresDate = commitment.expiresDate
    total = commitment.total
  }
}

extension TimeScale {
  /// Returns the end of the last of `count` consecutive months.
  func end(ofMonths count: Int, from start: Instant) -> Instant {
    // By the calendar from the first day, so that a month of 28 days does not shift the day of payment.
    if case .calendar = self { return end(of: Period(months: Int64(count)), from: start) }
    return (0..<count).reduce(start) { month, _ in end(of: Period(months: 1), from: month) }
  }
}

/// The behavior of the sandbox where Apple's documentation leaves one open.
struct CommitmentRules: Hashable, Sendable {
  /// The subtype of the `EXPIRED` notification after the twelfth period of a cancelled commitment.
  enum ExpiredSubtype: String, Hashable, Sendable, CaseIterable {
    case voluntary = "VOLUNTARY"
    /// Without a subtype.
    case absent = "NONE"

    var subtype: NotificationSubtype? {
      switch self {
      case .voluntary: .voluntary
      case .absent: nil
      }
    }
  }

  var expiredSubtype = ExpiredSubtype.voluntary
  /// Whether `autoRenewStatus` stays 1 in the twelfth period of a cancelled commitment, although no period follows.
  var staysOnInLastPeriod = true
}

// MARK: The next charge

extension SubscriptionLine {
  /// The subject of the next charge.
  struct Charge: Hashable, Sendable {
    let productID: String
    let plan: BillingPlan
    /// Without an offer, in thousandths of the currency.
    let price: Int64
    /// The commitment that the payment continues; `nil` for a renewal that the subscriber may cancel.
    let commitment: Commitment?
  }

  /// Whether payments of the current commitment remain. The subscriber cannot cancel them.
  var owesPayments: Bool { commitment?.owesPayments ?? false }

  /// The next charge, if the subscription is renewed.
  var nextCharge: Charge {
    if let commitment, commitment.owesPayments {
      return Charge(productID: productID, plan: .monthly, price: commitment.price, commitment: commitment)
    }
    return Charge(
      productID: renewalProductID, plan: renewalPlan, price: announcedIncrease?.price ?? renewalPrice,
      commitment: nil)
  }

  /// The offer of the next charge.
  var nextOffer: Offer? {
    if let runningOffer, runningOffer.left > 0 { return runningOffer.offer }
    return owesPayments ? nil : pendingOffer
  }
}

extension World {
  /// Whether `autoRenewStatus` is 1: for a commitment whether a payment follows, which a cancellation does not change
  /// (Apple: "Managing the life cycle of monthly subscriptions with a 12-month commitment", cancellation).
  func renewsNextPeriod(_ line: SubscriptionLine) -> Bool {
    guard line.isRunning, let commitment = line.commitment else { return line.autoRenews }
    let staysOn = settings[line.app]?.commitmentRules.staysOnInLastPeriod ?? true
    return line.autoRenews || commitment.owesPayments || staysOn
  }
}
