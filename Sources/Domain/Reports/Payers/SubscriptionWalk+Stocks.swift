internal import AppStore
internal import Entitlements

// Stocks.
extension SubscriptionWalk {
  /// The contribution of a running period to the stocks.
  struct Stock {
    let period: SubscriptionPeriod
    let annual: Int64
    let proceeds: Int64
    /// The price of the instalments that are still to come.
    let remainder: Int64
    /// The day of the charge with which it was renewed last.
    var chargedOn: ReportDay

    func isSame(as other: Stock) -> Bool {
      period.dimensions == other.period.dimensions && annual == other.annual && proceeds == other.proceeds
        && period.currency == other.period.currency && period.isTrial == other.period.isTrial
        && remainder == other.remainder
        && (period.commitment == nil) == (other.period.commitment == nil)
    }
  }

  func stock(of period: SubscriptionPeriod, at instant: Instant) -> Stock {
    let share = history.paidYears.share(of: period.dimensions.group, at: period.start)
    let annual = period.annual(at: instant)
    return Stock(
      period: period, annual: annual, proceeds: Share.part(share, of: annual),
      remainder: period.remainder(at: instant), chargedOn: ReportDay(instant))
  }

  mutating func enter(_ period: SubscriptionPeriod, at instant: Instant) {
    let stock = stock(of: period, at: instant)
    self.stock = stock
    post(stock, 1, at: instant)
  }

  mutating func leave(at instant: Instant) {
    endExpected(at: instant)
    guard let stock else { return }
    post(stock, -1, at: instant)
    self.stock = nil
  }

  /// Posts a subscription that begins to count (1) or ends (-1): active with its recurring revenue, or in a
  /// trial without; the instalments of a commitment that are to come too.
  mutating func post(_ stock: Stock, _ sign: Int64, at instant: Instant) {
    let (period, rateDay) = (stock.period, rateDay(of: stock))
    flow(period.isTrial ? .inTrial : .active, period, at: instant) {
      $0.count = sign
      guard !period.isTrial else { return }
      ($0.amount, $0.proceeds) = (sign * stock.annual, sign * stock.proceeds)
      ($0.currency, $0.chargedOn) = (period.currency, rateDay)
    }
    guard period.commitment != nil else { return }
    flow(.committed, period, at: instant) { posting in
      posting.count = sign
      (posting.amount, posting.currency) = (sign * stock.remainder, period.currency)
    }
  }

  /// Moves what is in force from one period to the next one, with the difference in recurring revenue.
  mutating func change(
    _ previous: SubscriptionPeriod, _ period: SubscriptionPeriod, at instant: Instant
  ) {
    let new = stock(of: period, at: instant)
    guard let old = stock, !old.isSame(as: new) else {
      if stock != nil { stock = new }
      return
    }
    leave(at: instant)
    enter(period, at: instant)
    let hasMoved = previous.dimensions != period.dimensions
    guard !period.isTrial else {
      return moveTrial(previous, period, at: instant)
    }
    let isInOneCurrency = previous.currency == period.currency
    if hasMoved {
      let moved = isInOneCurrency ? (old.annual, old.proceeds) : (0, 0)
      move(previous, -1, moved, at: instant)
      move(period, 1, moved, at: instant)
    }
    let reason = app.change(previous, period).reason
    if isInOneCurrency {
      revise(period, new.annual - old.annual, new.proceeds - old.proceeds, reason, at: instant)
    } else {
      revise(previous, -old.annual, -old.proceeds, "CURRENCY", at: instant)
      revise(period, new.annual, new.proceeds, "CURRENCY", at: instant)
    }
  }

  /// Counts the seats that were added to the period in force, with their recurring revenue.
  mutating func addSeats(to period: SubscriptionPeriod, at instant: Instant) {
    changeRate(at: instant)
    guard let old = stock else { return }
    let new = stock(of: period, at: instant)
    guard !old.isSame(as: new) else { return }
    post(old, -1, at: instant)
    post(new, 1, at: instant)
    revise(period, new.annual - old.annual, new.proceeds - old.proceeds, "SEATS", at: instant)
    stock = new
  }

  /// Records that a trial begins under other dimensions than those under which its subscription was counted before, or
  /// converts under others. An offer alone is no difference, because every trial is one.
  mutating func moveTrial(
    _ previous: SubscriptionPeriod, _ period: SubscriptionPeriod, at instant: Instant
  ) {
    var unchanged = previous.dimensions
    if previous.isTrial != period.isTrial {
      unchanged = unchanged.with(offerKind: period.dimensions.offerKind)
    }
    guard unchanged != period.dimensions else { return }
    flow(.trialMoved, previous, at: instant) { posting in posting.count = -1 }
    flow(.trialMoved, period, at: instant) { _ in }
  }

  /// Posts recurring revenue that leaves (-1) or enters (1) a product or another dimension without a change
  /// of its amount.
  mutating func move(
    _ period: SubscriptionPeriod, _ sign: Int64, _ amounts: (annual: Int64, proceeds: Int64),
    at instant: Instant
  ) {
    flow(.moved, period, at: instant) { posting in
      posting.count = sign
      (posting.amount, posting.proceeds) = (sign * amounts.annual, sign * amounts.proceeds)
      posting.currency = period.currency
    }
  }

  /// Posts a change of the recurring revenue of a subscription that continues. If only the share of Apple
  /// changed, it counts no subscription.
  mutating func revise(
    _ period: SubscriptionPeriod, _ annual: Int64, _ proceeds: Int64, _ reason: String, at instant: Instant
  ) {
    guard annual != 0 || proceeds != 0 else { return }
    flow(annual < 0 ? .contraction : .expansion, period, at: instant) { posting in
      posting.count = annual == 0 ? 0 : 1
      posting.reason = annual == 0 ? "COMMISSION" : reason
      (posting.amount, posting.proceeds, posting.currency) = (annual, proceeds, period.currency)
    }
  }

  /// Moves the recurring revenue to the exchange rate of the charge with which it is renewed.
  mutating func changeRate(at instant: Instant) {
    let day = ReportDay(instant)
    if let stock, let before = rateDay(of: stock), before != day, stock.annual != 0 {
      flow(.rateChanged, stock.period, at: instant) { posting in
        (posting.count, posting.amount, posting.proceeds) = (0, -stock.annual, -stock.proceeds)
        (posting.currency, posting.chargedOn) = (stock.period.currency, before)
      }
    }
    stock?.chargedOn = day
  }

  /// The day whose exchange rate a stock has; `nil` if the app has no rates.
  func rateDay(of stock: Stock) -> ReportDay? { app.reports.rates.isEmpty ? nil : stock.chargedOn }
}

extension AppDefinition {
  /// Returns the kind and the reason of the change from one period of a stint to the next.
  func change(
    _ previous: SubscriptionPeriod, _ period: SubscriptionPeriod
  ) -> (kind: Posting.Kind, reason: String) {
    let (old, new) = (previous.dimensions, period.dimensions)
    if old.productID != new.productID {
      guard let from = products[old.productID]?.level, let to = products[new.productID]?.level else {
        return (.changedProduct, "CHANGED_PRODUCT")
      }
      // Level 1 is the highest.
      if to < from { return (.upgraded, "UPGRADE") }
      return to > from ? (.downgraded, "DOWNGRADE") : (.crossgraded, "CROSSGRADE")
    }
    if previous.seats != period.seats(at: period.start) { return (.changedProduct, "SEATS") }
    if old.offerKind.isEmpty != new.offerKind.isEmpty {
      return (.changedProduct, new.offerKind.isEmpty ? "OFFER_ENDED" : "OFFER_REDEEMED")
    }
    if old.storefront != new.storefront { return (.changedProduct, "STOREFRONT") }
    let isLess = period.annual(at: period.start) < previous.annual(at: period.start)
    return (.changedProduct, isLess ? "PRICE_DECREASE" : "PRICE_INCREASE")
  }
}
