internal import AppStore
internal import Entitlements

/// Follows one subscription from period to period and records what each instant changes.
///
/// It assumes that nothing else happens after the last known document, so it also finds the instants at which time
/// alone changes something.
struct SubscriptionWalk {
  /// Each posting and the instant from which on it counts.
  private(set) var scheduled: [(posting: Posting, instant: Instant)] = []
  /// When a period whose renewal Apple has not reported counts as lapsed; `nil` without one.
  var check: Instant?

  let line: String
  let history: PayerHistory
  let app: AppDefinition
  let now: Instant
  /// What is in force.
  private var stock: Stock?
  /// The cohort of the running stint: the day of its first paid period.
  private var cohort: Posting.Cohort?
  /// The start of the trial that began the stint.
  private var trial: Posting.Cohort?
  private var paidPeriods: Int64 = 0

  /// How a period follows the one before it.
  enum Beginning {
    /// A new stint.
    case stint
    case renewal(SubscriptionPeriod)
    case afterRetry(SubscriptionPeriod)
  }

  init(_ line: String, _ history: PayerHistory, _ app: AppDefinition, at now: Instant) {
    self.line = line
    self.history = history
    self.app = app
    self.now = now
  }

  mutating func run(_ periods: [SubscriptionPeriod], _ facts: borrowing CustomerFacts) {
    let failures = facts.failures(ofLine: line)
    var beginning = Beginning.stint
    for (position, period) in periods.enumerated() {
      begin(period, beginning)
      let next = position + 1 < periods.count ? periods[position + 1] : nil
      let ending = PeriodEnding(period, next, facts, failures[period.start])
      beginning = end(period, ending, facts)
    }
  }
}

// Beginnings.
extension SubscriptionWalk {
  private mutating func begin(_ period: SubscriptionPeriod, _ beginning: Beginning) {
    switch beginning {
    case .stint: beginStint(period)
    case .renewal(let previous): renew(previous, period)
    case .afterRetry(let previous): recover(previous, period)
    }
    if !period.isTrial { reachPeriod(period) }
  }

  private mutating func beginStint(_ period: SubscriptionPeriod) {
    (cohort, trial, paidPeriods) = (nil, nil, 0)
    if period.isTrial {
      trial = Posting.Cohort(day: ReportDay(period.start), dimensions: period.dimensions)
      flow(.trialStarted, period, at: period.start) { $0.cohort = $1.trial }
    } else {
      gain(isReturn(period) ? .resubscribed : .startedPaid, period)
    }
    enter(period)
  }

  private mutating func renew(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    switch (previous.isTrial, period.isTrial) {
    case (true, false):
      leave(at: period.start)
      convert(.converted, period)
    case (false, true):
      lose(.toFreeOffer, at: period.start)
      trial = nil
      enter(period)
    case (true, true): change(previous, period)
    case (false, false):
      continuePaid(previous, period)
      change(previous, period)
    }
  }

  private mutating func recover(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    if previous.isTrial, !period.isTrial { return convert(.convertedFromRetry, period) }
    if period.isTrial {
      flow(.trialStarted, period, at: period.start) { _, _ in }
    } else {
      gain(.recovered, period)
    }
    enter(period)
  }

  private mutating func convert(_ kind: Posting.Kind, _ period: SubscriptionPeriod) {
    gain(kind, period) {
      $0.reason = $1.isReturn(period) ? "RETURN" : "FIRST"
      $0.cohort = $1.trial
    }
    enter(period)
  }

  /// Whether the payer paid for the group before.
  private func isReturn(_ period: SubscriptionPeriod) -> Bool {
    history.firstPaid[period.dimensions.group].map { $0 < period.start } ?? false
  }

  private mutating func continuePaid(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    let isChanged = previous.dimensions.productID != period.dimensions.productID
    if isChanged { flow(app.change(previous, period).kind, period, at: period.start) { _, _ in } }
    // Apple renews at most a day early. A later part of the same period, with added seats, is no renewal.
    let earliest = previous.expires.advanced(byMilliseconds: -ReportDay.length)
    if period.start >= (isChanged ? previous.expires : earliest) {
      let isInstalment = (period.commitment?.billingPeriodNumber ?? 1) > 1
      flow(isInstalment ? .instalmentPaid : .renewed, period, at: period.start) { posting, _ in
        // Commitments are reported by currency.
        if isInstalment { posting.currency = period.currency }
      }
    }
    if !previous.dimensions.offerKind.isEmpty, period.dimensions.offerKind.isEmpty {
      flow(.introToRegular, period, at: period.start) { _, _ in }
    }
    if isChanged { creditUpgrade(previous, period) }
  }

  /// Apple returns the unused part of a period after an upgrade. No document states it.
  private mutating func creditUpgrade(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    guard period.start < previous.expires, previous.price > 0,
      app.change(previous, period).kind == .upgraded
    else { return }
    let credit = Share.quotient(
      of: previous.price, times: previous.expires.milliseconds(since: period.start),
      by: previous.expires.milliseconds(since: previous.start))
    flow(.upgradeCredit, previous, at: period.start) {
      let share = $1.history.paidYears.share(of: previous.dimensions.group, at: previous.start)
      ($0.amount, $0.proceeds, $0.currency) = (-credit, -Share.part(share, of: credit), previous.currency)
      $0.cohort = $1.history.cohort?.at(ReportDay(period.start))
    }
  }

  private mutating func reachPeriod(_ period: SubscriptionPeriod) {
    paidPeriods += 1
    if cohort == nil {
      cohort = Posting.Cohort(day: ReportDay(period.start), dimensions: period.dimensions)
      flow(.joinedCohort, period, at: period.start) { posting, _ in
        posting.reason = CohortLength(period).text
      }
    }
    guard let cohort, paidPeriods <= Self.periodLimit else { return }
    flow(.periodReached, period, at: period.start) {
      $0.cohort = Posting.Cohort(day: cohort.day, dimensions: cohort.dimensions, age: $1.paidPeriods)
    }
  }

  /// Retention is reported for three years of months.
  static let periodLimit: Int64 = 36
}

// Stocks.
extension SubscriptionWalk {
  /// What a running period adds to the stocks.
  private struct Stock {
    let period: SubscriptionPeriod
    let annual: Int64
    let proceeds: Int64

    func isSame(as other: Stock) -> Bool {
      period.dimensions == other.period.dimensions && annual == other.annual && proceeds == other.proceeds
        && period.currency == other.period.currency && period.isTrial == other.period.isTrial
        && period.remainder == other.period.remainder
        && (period.commitment == nil) == (other.period.commitment == nil)
    }
  }

  private func stock(of period: SubscriptionPeriod) -> Stock {
    let share = history.paidYears.share(of: period.dimensions.group, at: period.start)
    return Stock(period: period, annual: period.annual, proceeds: Share.part(share, of: period.annual))
  }

  private mutating func enter(_ period: SubscriptionPeriod) {
    let stock = stock(of: period)
    self.stock = stock
    post(stock, 1, at: period.start)
  }

  mutating func leave(at instant: Instant) {
    guard let stock else { return }
    post(stock, -1, at: instant)
    self.stock = nil
  }

  private mutating func post(_ stock: Stock, _ sign: Int64, at instant: Instant) {
    let period = stock.period
    flow(period.isTrial ? .inTrial : .active, period, at: instant) { posting, _ in
      posting.count = sign
      guard !period.isTrial else { return }
      posting.amount = sign * stock.annual
      posting.proceeds = sign * stock.proceeds
      posting.currency = period.currency
    }
    guard period.commitment != nil else { return }
    flow(.committed, period, at: instant) { posting, _ in
      posting.count = sign
      (posting.amount, posting.currency) = (sign * period.remainder, period.currency)
    }
  }

  /// Moves what is in force from one period to the next one, with the difference in recurring revenue.
  private mutating func change(_ previous: SubscriptionPeriod, _ period: SubscriptionPeriod) {
    let new = stock(of: period)
    guard let old = stock, !old.isSame(as: new) else { return }
    leave(at: period.start)
    enter(period)
    guard !period.isTrial else { return }
    let isInOneCurrency = previous.currency == period.currency
    if previous.dimensions != period.dimensions {
      let moved = isInOneCurrency ? (old.annual, old.proceeds) : (0, 0)
      move(previous, -1, moved, at: period.start)
      move(period, 1, moved, at: period.start)
    }
    let reason = app.change(previous, period).reason
    if isInOneCurrency {
      revise(period, new.annual - old.annual, new.proceeds - old.proceeds, reason, at: period.start)
    } else {
      revise(previous, -old.annual, -old.proceeds, "CURRENCY", at: period.start)
      revise(period, new.annual, new.proceeds, "CURRENCY", at: period.start)
    }
  }

  private mutating func move(
    _ period: SubscriptionPeriod, _ sign: Int64, _ amounts: (annual: Int64, proceeds: Int64),
    at instant: Instant
  ) {
    flow(.moved, period, at: instant) { posting, _ in
      posting.count = sign
      (posting.amount, posting.proceeds) = (sign * amounts.annual, sign * amounts.proceeds)
      posting.currency = period.currency
    }
  }

  private mutating func revise(
    _ period: SubscriptionPeriod, _ annual: Int64, _ proceeds: Int64, _ reason: String, at instant: Instant
  ) {
    guard annual != 0 || proceeds != 0 else { return }
    flow(annual < 0 ? .contraction : .expansion, period, at: instant) { posting, _ in
      posting.count = annual == 0 ? 0 : 1
      posting.reason = annual == 0 ? "COMMISSION" : reason
      (posting.amount, posting.proceeds, posting.currency) = (annual, proceeds, period.currency)
    }
  }

  /// Records that a paid period came into force, with its recurring revenue.
  private mutating func gain(
    _ kind: Posting.Kind, _ period: SubscriptionPeriod,
    _ change: (inout Posting, SubscriptionWalk) -> Void = { _, _ in }
  ) {
    let stock = stock(of: period)
    flow(kind, period, at: period.start) {
      ($0.amount, $0.proceeds, $0.currency) = (stock.annual, stock.proceeds, period.currency)
      change(&$0, $1)
    }
  }

  /// Records that what is in force ended, with its recurring revenue.
  mutating func lose(_ kind: Posting.Kind, _ reason: String = "", at instant: Instant) {
    guard let stock else { return }
    let period = stock.period
    flow(period.isTrial ? kind.ofTrial : kind, period, at: instant) {
      $0.reason = reason
      if period.isTrial {
        $0.cohort = $1.trial
      } else {
        ($0.amount, $0.proceeds, $0.currency) = (-stock.annual, -stock.proceeds, period.currency)
      }
    }
    leave(at: instant)
  }

  /// Records a posting of `period` that counts one unit from its instant on, unless `change` states another.
  mutating func flow(
    _ kind: Posting.Kind, _ period: SubscriptionPeriod, at instant: Instant,
    _ change: (inout Posting, SubscriptionWalk) -> Void
  ) {
    var posting = Posting(
      kind, at: instant, line: line, transactionID: period.transactionID, period.dimensions)
    posting.count = 1
    change(&posting, self)
    scheduled.append((posting, instant))
  }
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

extension AppDefinition {
  /// How one period of a stint differs from the next.
  fileprivate func change(
    _ previous: SubscriptionPeriod, _ period: SubscriptionPeriod
  ) -> (kind: Posting.Kind, reason: String) {
    let (old, new) = (previous.dimensions, period.dimensions)
    if old.productID != new.productID {
      guard let from = products[old.productID]?.level, let to = products[new.productID]?.level else {
        return (.changedProduct, "PRODUCT_CHANGED")
      }
      // Level 1 is the highest.
      if to < from { return (.upgraded, "UPGRADE") }
      return to > from ? (.downgraded, "DOWNGRADE") : (.crossgraded, "CROSSGRADE")
    }
    if previous.seats != period.seats { return (.changedProduct, "SEATS") }
    if old.offerKind.isEmpty != new.offerKind.isEmpty {
      return (.changedProduct, new.offerKind.isEmpty ? "OFFER_ENDED" : "OFFER_REDEEMED")
    }
    return (.changedProduct, "PRICE")
  }
}
