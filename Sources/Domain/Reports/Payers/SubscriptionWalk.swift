internal import AppStore
internal import Entitlements

/// Follows one subscription from period to period and records what each instant changes.
///
/// It assumes that nothing else happens after the last known document, so it also finds the instants at which time
/// alone changes something.
struct SubscriptionWalk {
  /// All postings, also those of the time after ``now``.
  var postings: [Posting] = []
  /// The number of the stint of each posting.
  private(set) var stints: [Int] = []
  /// When a period whose renewal Apple has not reported counts as lapsed; `nil` without one.
  var check: Instant?

  let subscription: SubscriptionLine
  let history: PayerHistory
  let app: AppDefinition
  let now: Instant
  /// The stock in force.
  var stock: Stock?
  /// The contribution of the running period to the expected revenue; `nil`: none.
  var expected: Expected?
  /// When the running stint began.
  var stintStart = Instant(millisecondsSince1970: 0)
  /// Since when the running period is in force.
  var inForceSince = Instant(millisecondsSince1970: 0)
  /// The number of the running stint.
  var stint = 0
  /// The cohort of the running stint: the day of its first paid period.
  var cohort: Posting.Cohort?
  /// The start of the trial that began the stint.
  var trial: Posting.Cohort?
  var paidPeriods: Int64 = 0
  /// When Apple asked for consumption data about a refund of one of the periods.
  var refundRequests: [Instant] = []
  /// Apple's reports about the next renewal, during each period.
  let renewals: RenewalTimes

  /// The way in which a period follows the one before it.
  enum Beginning {
    /// A new stint.
    case stint
    /// In force from an instant: the start of the period; a later payment in the grace period, to which the billing cycle does
    /// not move; or the end of a trial, if the documents about the periods after it are missing.
    case renewal(SubscriptionPeriod, from: Instant)
    case afterRetry(SubscriptionPeriod)
  }

  init(
    _ subscription: SubscriptionLine, _ history: PayerHistory, _ app: AppDefinition,
    _ facts: borrowing CustomerFacts, at now: Instant
  ) {
    self.subscription = subscription
    renewals = RenewalTimes(subscription.lines, facts)
    self.history = history
    self.app = app
    self.now = now
  }

  /// The purchase that all postings have.
  var line: String { subscription.line }

  /// Derives the postings of the subscription from its periods, in order.
  mutating func run(_ facts: borrowing CustomerFacts) {
    let periods = subscription.periods
    var failures = facts.failures(ofLine: line)
    for replacement in subscription.replacements {
      failures.merge(facts.failures(ofLine: replacement.line)) { $1 }
    }
    // With room for the other postings of a payer.
    postings.reserveCapacity(32 + 10 * periods.count)
    stints.reserveCapacity(32 + 10 * periods.count)
    var beginning = Beginning.stint
    for (position, period) in periods.enumerated() {
      begin(period, beginning)
      let next = position + 1 < periods.count ? periods[position + 1] : nil
      let ending = PeriodEnding(
        period, next, facts, failures[period.start], slack: app.renewalPolicy.slack)
      beginning = end(period, ending, facts)
    }
    markOpenings()
  }
}

// Beginnings.
extension SubscriptionWalk {
  mutating func begin(_ period: SubscriptionPeriod, _ beginning: Beginning) {
    inForceSince = period.start
    switch beginning {
    case .stint: beginStint(period)
    case .renewal(let previous, let instant):
      renew(previous, period, at: instant)
      inForceSince = instant
    case .afterRetry(let previous): recover(previous, period)
    }
    if !period.isTrial { reachPeriod(period) }
  }

  mutating func beginStint(_ period: SubscriptionPeriod) {
    (cohort, trial, paidPeriods) = (nil, nil, 0)
    (stint, stintStart) = (stint + 1, period.start)
    if period.isTrial {
      let trial = Posting.Cohort(day: ReportDay(period.start), dimensions: period.dimensions)
      self.trial = trial
      flow(.trialStarted, period, at: period.start) { $0.cohort = trial }
    } else {
      gain(isReturn(period) ? .resubscribed : .startedPaid, period, at: period.start)
    }
    enter(period, at: period.start)
  }

  /// Posts the change from one period to the next without a lapse: between trial and paid, or a renewal.
  mutating func renew(
    _ previous: SubscriptionPeriod, _ period: SubscriptionPeriod, at instant: Instant
  ) {
    changeProduct(previous, period)
    for renewal in period.replaced where renewal.price > 0 {
      credit(renewal.price, of: renewal, at: period.start)
    }
    switch (previous.isTrial, period.isTrial) {
    case (true, false):
      leave(at: instant)
      moveTrial(previous, period, at: instant)
      convert(.converted, period, at: instant)
    case (false, true):
      lose(.toFreeOffer, at: instant)
      moveTrial(previous, period, at: instant)
      trial = nil
      enter(period, at: instant)
    case (true, true): change(previous, period, at: instant)
    case (false, false):
      continuePaid(previous, period)
      changeRate(at: instant)
      change(previous, period, at: instant)
    }
  }

  mutating func recover(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    changeProduct(previous, period)
    if previous.isTrial, !period.isTrial { return convert(.convertedFromRetry, period, at: period.start) }
    gain(.recovered, period, at: period.start)
    if period.isInstalment { payInstalment(period) }
    if period.isTrial {
      // A period that came back out of billing retry is free now.
      flow(.toFreeOffer, period, at: period.start) { _ in }
      if !previous.isTrial { trial = nil }
    }
    enter(period, at: period.start)
  }

  mutating func convert(_ kind: Posting.Kind, _ period: SubscriptionPeriod, at instant: Instant) {
    let (reason, trial) = (isReturn(period) ? "RETURN" : "FIRST", trial)
    gain(kind, period, at: instant) { ($0.reason, $0.cohort) = (reason, trial) }
    enter(period, at: instant)
  }

  /// Whether the payer paid for the group before.
  func isReturn(_ period: SubscriptionPeriod) -> Bool {
    history.firstPaid[period.dimensions.group].map { $0 < period.start } ?? false
  }

  mutating func changeProduct(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    guard previous.dimensions.productID != period.dimensions.productID else { return }
    flow(app.change(previous, period).kind, period, at: period.start) { _ in }
  }

  /// Posts what a paid period after a paid one is: a renewal, an instalment, the end of an offer, or an upgrade.
  mutating func continuePaid(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    let isChanged = previous.dimensions.productID != period.dimensions.productID
    // Apple renews at most a day early, also to another product that was planned. A later part of the same period, with added
    // seats, is no renewal, and neither is the purchase of another product.
    let isRenewal = !isChanged || period.reason == .renewal
    let lead = isRenewal ? ReportDay.length : 0
    if period.start >= previous.expires.advanced(byMilliseconds: -lead), !isChanged || !period.isPurchase {
      if period.isInstalment {
        payInstalment(period)
      } else {
        flow(.renewed, period, at: period.start) { _ in }
      }
    }
    if !previous.dimensions.offerKind.isEmpty, period.dimensions.offerKind.isEmpty {
      flow(.introToRegular, period, at: period.start) { _ in }
    }
    if isChanged { creditUpgrade(previous, period) }
  }

  /// Records a payment of a commitment after its first one.
  private mutating func payInstalment(_ period: SubscriptionPeriod) {
    // Commitments are reported by currency.
    flow(.instalmentPaid, period, at: period.start) { $0.currency = period.currency }
  }

  /// Apple returns the unused part of a period after an upgrade. No document states it, except of a commitment: its period
  /// has a refund at the moment of the upgrade, which is posted as such.
  mutating func creditUpgrade(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    guard period.start < previous.expires, previous.price > 0,
      app.change(previous, period).kind == .upgraded,
      previous.refundedAt.map({ $0.milliseconds(since: period.start) > 1_000 }) ?? true
        || history.transactions[previous.index].hasUnstatedReturn
    else { return }
    let credit = Share.quotient(
      of: previous.price, times: previous.expires.milliseconds(since: period.start),
      by: previous.expires.milliseconds(since: previous.start))
    self.credit(credit, of: previous, at: period.start)
  }

  mutating func credit(_ amount: Int64, of period: SubscriptionPeriod, at instant: Instant) {
    let share = history.paidYears.share(of: period.dimensions.group, at: period.start)
    let cohort = history.cohort?.at(ReportDay(instant))
    flow(.upgradeCredit, period, at: instant) {
      ($0.amount, $0.proceeds, $0.currency) = (-amount, -Share.part(share, of: amount), period.currency)
      $0.cohort = cohort
    }
  }
}

// Postings.
extension SubscriptionWalk {
  /// Records that a period came into force, with its recurring revenue.
  mutating func gain(
    _ kind: Posting.Kind, _ period: SubscriptionPeriod, at instant: Instant,
    _ change: (inout Posting) -> Void = { _ in }
  ) {
    if kind == .reversedIn, period.isTrial { return returnTrial(period, at: instant) }
    let stock = stock(of: period, at: instant)
    let rateDay = rateDay(of: stock)
    flow(kind, period, at: instant) {
      ($0.amount, $0.proceeds, $0.currency) = (stock.annual, stock.proceeds, period.currency)
      $0.chargedOn = rateDay
      change(&$0)
    }
    guard !period.isTrial else { return }
    joinCohort(period, inForceSince: instant)
    countInCohort(period, 1, at: instant)
  }

  /// Takes the refund of a trial back, which never was active, on the day of its reversal.
  private mutating func returnTrial(_ period: SubscriptionPeriod, at instant: Instant) {
    let trial = trial
    flow(.trialRefunded, period, at: instant) { ($0.count, $0.cohort) = (-1, trial) }
  }

  /// Records that what is in force ended, with its recurring revenue.
  mutating func lose(_ kind: Posting.Kind, _ reason: String = "", at instant: Instant) {
    guard let stock else { return }
    let period = stock.period
    let (trial, rateDay) = (trial, rateDay(of: stock))
    flow(period.isTrial ? kind.ofTrial : kind, period, at: instant) {
      $0.reason = reason
      if period.isTrial {
        $0.cohort = trial
      } else {
        ($0.amount, $0.proceeds, $0.currency) = (-stock.annual, -stock.proceeds, period.currency)
        $0.chargedOn = rateDay
      }
    }
    if !period.isTrial { countInCohort(period, -1, at: instant) }
    leave(at: instant)
  }

  /// Records a posting of `period` that counts one unit from its instant on, unless `change` states another.
  mutating func flow(
    _ kind: Posting.Kind, _ period: SubscriptionPeriod, at instant: Instant,
    _ change: (inout Posting) -> Void
  ) {
    var posting = Posting(
      kind, at: instant, line: line, transactionID: period.transactionID, period.dimensions)
    posting.count = 1
    change(&posting)
    append(consume posting)
  }

  /// Appends a posting of the running stint.
  mutating func append(_ posting: consuming Posting) {
    postings.append(consume posting)
    stints.append(stint)
  }
}

extension SubscriptionPeriod {
  /// Whether it is a payment of a commitment after its first one.
  fileprivate var isInstalment: Bool { (commitment?.billingPeriodNumber ?? 1) > 1 }
}

extension Posting.Kind {
  /// The kind for a trial, which never was active.
  fileprivate var ofTrial: Posting.Kind {
    switch self {
    case .lapsedBilling: .trialLapsedBilling
    case .refundedOut: .trialRefunded
    default: .trialExpired
    }
  }
}
