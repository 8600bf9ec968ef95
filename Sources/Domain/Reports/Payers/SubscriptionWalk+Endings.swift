internal import AppStore
internal import Entitlements

/// The end of a period, as the facts prove it.
struct PeriodEnding {
  let next: SubscriptionPeriod?
  /// The failure of the renewal that Apple reported; `nil` if it reported none.
  let failure: Failure?
  /// The way in which the next period follows after a gap: `nil` if it is a new purchase.
  let recovery: Recovery?
  /// The time until the next period, if the subscription went on; `nil` also without a gap.
  let gap: RenewalGap?

  /// A failed renewal of one period.
  struct Failure {
    var graceEnd: Instant?
    var turnedOffAt: Instant?
    /// When Apple first reported another period.
    var followedAt: Instant?
  }

  init(
    _ period: SubscriptionPeriod, _ next: SubscriptionPeriod?, _ facts: borrowing CustomerFacts,
    _ failure: Failure?, slack: Int64
  ) {
    self.next = next
    self.failure = failure
    gap =
      if let next, period.expires < next.start {
        facts.gap(after: period.index, before: next.index, slack: slack, hasFailed: failure != nil)
      } else {
        nil
      }
    recovery = next.flatMap { Self.recovery(period, $0, facts, failure) }
  }

  /// How a period that began after a gap continues the one before: in or after the grace period; `nil` if
  /// it is a new purchase. Documents of a failed payment decide before dates.
  private static func recovery(
    _ period: SubscriptionPeriod, _ next: SubscriptionPeriod, _ facts: borrowing CustomerFacts,
    _ failure: Failure?
  ) -> Recovery? {
    let gap = next.start.milliseconds(since: period.expires)
    guard gap > 0, gap <= period.retryLength else { return nil }
    if next.isPurchase {
      // A change of product in the grace period goes on without a gap.
      let isInGrace =
        failure?.graceEnd.map { next.start <= $0 } ?? false
        && failure?.turnedOffAt.map { next.start < $0 } ?? true
      return isInGrace && period.dimensions.productID != next.dimensions.productID ? .inGracePeriod : nil
    }
    let byDates = facts.recovery(period.index, next.index)
    if let end = failure?.graceEnd { return next.start <= end ? .inGracePeriod : .afterGracePeriod }
    if failure != nil { return .afterGracePeriod }
    guard next.reason == .renewal else {
      // A receipt does not say who made the purchase.
      let info = facts.renewal(of: period.index, at: next.start.advanced(byMilliseconds: -1))
      return info?.isOff == true ? nil : byDates
    }
    return byDates ?? .afterGracePeriod
  }
}

// Endings.
extension SubscriptionWalk {
  /// Records how a period ends, and returns how the next one begins.
  mutating func end(
    _ period: SubscriptionPeriod, _ ending: PeriodEnding, _ facts: borrowing CustomerFacts
  ) -> Beginning {
    let next = ending.next
    for refund in period.reversedRefunds where next.map({ refund.start < $0.start }) ?? true {
      addRenewalTimes(period, next, until: refund.start)
      lose(.refundedOut, "REFUND", at: refund.start)
      guard refund.end < min(period.expires, next?.start ?? .openEnd) else { return .stint }
      inForceSince = refund.end
      gain(.reversedIn, period, at: refund.end)
      enter(period, at: refund.end)
    }
    if let refunded = period.refundedAt, refunded < period.expires, next.map({ refunded < $0.start }) ?? true,
      next == nil || !facts.isRefundedForUpgrade(period.index)
    {
      addRenewalTimes(period, next, until: refunded)
      lose(.refundedOut, "REFUND", at: refunded)
      return .stint
    }
    if let next, next.start <= period.expires {
      // Until it is paid, the subscription is in the grace period of the old period.
      var start = next.start
      if start == period.expires, let paid = ending.failure?.recoveredInGrace(after: period.expires) {
        recoverInGrace(period, at: paid)
        start = paid
      }
      addRenewalTimes(period, next, until: start)
      return .renewal(period, from: start)
    }
    if let next, let gap = ending.gap {
      // The first payment, whose document is missing, ended a trial.
      let endsTrial = gap == .missingPeriods && period.isTrial && !next.isTrial
      let start = endsTrial ? period.expires : next.start
      addRenewalTimes(period, next, until: start)
      return .renewal(period, from: start)
    }
    guard let next, let recovery = ending.recovery else { return lapse(period, ending, facts) }
    switch recovery {
    case .inGracePeriod:
      addRenewalTimes(period, next, until: next.start)
      recoverInGrace(period, at: next.start)
      return .renewal(period, from: next.start)
    case .afterGracePeriod:
      let end = endGrace(period, ending, before: next.start)
      addRenewalTimes(period, next, until: end)
      addLapseContexts(period, hasFailed: true, at: end)
      lose(.lapsedBilling, "BILLING", at: end)
      span(.inRetry, period, end, next.start)
      days(.retryDays, period, end, next.start)
      if !next.isTrial { recoverPayment(period, at: next.start) }
      return .afterRetry(period)
    }
  }

  /// Records a payment in Apple's grace period.
  private mutating func recoverInGrace(_ period: SubscriptionPeriod, at paid: Instant) {
    span(.inGrace, period, period.expires, paid)
    flow(.graceEntered, period, at: period.expires) { _ in }
    flow(.graceRecovered, period, at: paid) { _ in }
    days(.graceDays, period, period.expires, paid)
    recoverPayment(period, at: paid)
  }

  /// Records how long after the end of a period the payment for the next one succeeded.
  private mutating func recoverPayment(_ period: SubscriptionPeriod, at paid: Instant) {
    let days = paid.milliseconds(since: period.expires) / ReportDay.length
    flow(.recoveredPayment, period, at: paid) { posting in
      posting.reason = RecoveryTime(days: days).rawValue
    }
  }

  /// Posts the end of a period without a renewal, by the reason that Apple states; a failed payment is
  /// followed until Apple gives up.
  private mutating func lapse(
    _ period: SubscriptionPeriod, _ ending: PeriodEnding, _ facts: borrowing CustomerFacts
  ) -> Beginning {
    let horizon = ending.next?.start ?? .openEnd
    let info = facts.renewal(of: period.index, at: min(horizon.advanced(byMilliseconds: -1), now))
    let isBilling =
      info?.expirationIntent == .billingError || info?.isInBillingRetry == true
      || ending.failure.map { $0.turnedOffAt.map { $0 > period.expires } ?? true } ?? false
    if isBilling {
      failPayment(period, ending, info, until: horizon)
      return .stint
    }
    addRenewalTimes(period, ending.next, until: period.expires)
    if info?.expirationIntent != nil || info?.renewalStatus == .off {
      addLapseContexts(period, hasFailed: false, at: period.expires)
    }
    switch info?.expirationIntent {
    case .customerCancelled?: loseByCancellation(period)
    case .priceIncreaseNotAccepted?: lose(.lapsedVoluntary, "PRICE_NOT_ACCEPTED", at: period.expires)
    case .productUnavailable?: lose(.lapsedOther, "PRODUCT_UNAVAILABLE", at: period.expires)
    case .other?, .billingError?, .unrecognized?: lose(.lapsedOther, "OTHER", at: period.expires)
    case nil where info?.renewalStatus == .off: loseByCancellation(period)
    case nil: awaitRenewal(period)
    }
    return .stint
  }

  /// Apple has not reported whether the period renewed: its last day closes with a lapse.
  private mutating func awaitRenewal(_ period: SubscriptionPeriod) {
    // The lapse must be known before the day closes.
    let closing = ReportDay(period.expires).closing(after: app.reports.closeAfter)
      .advanced(byMilliseconds: -1)
    guard now < closing else { return lose(.lapsedOther, "UNKNOWN", at: period.expires) }
    if !period.isTrial { countInCohort(period, -1, at: period.expires) }
    leave(at: period.expires)
    flow(.awaitingRenewal, period, at: period.expires) { _ in }
    check = min(check ?? closing, closing)
  }

  /// Records a failed payment that did not lead to another period of the stint.
  private mutating func failPayment(
    _ period: SubscriptionPeriod, _ ending: PeriodEnding, _ info: RenewalFact?, until horizon: Instant
  ) {
    let turnedOff = ending.failure?.turnedOffAt ?? .openEnd
    // Apple turns auto-renew off, too, when it gives up, with another reason than for a cancellation.
    let isGivenUp = info.map { $0.expirationIntent == .billingError && !$0.isInBillingRetry } ?? false
    let end = endGrace(period, ending, before: min(horizon, turnedOff))
    addRenewalTimes(period, ending.next, until: end)
    // In the grace period, Apple ended the subscription with the refund; the customer did not cancel.
    if let refunded = period.refundedAt, period.expires < end, refunded <= end {
      return lose(.refundedOut, "REFUND", at: end)
    }
    addLapseContexts(period, hasFailed: true, at: end)
    guard end < turnedOff || end == period.expires || isGivenUp else {
      return lose(.lapsedVoluntary, "CANCELLED_IN_GRACE", at: end)
    }
    lose(.lapsedBilling, "BILLING", at: end)
    var lost = period.expires.advanced(byMilliseconds: period.retryLength)
    if let info, info.expirationIntent != nil, !info.isInBillingRetry, info.signedDate > end {
      lost = min(lost, info.signedDate)
    }
    let retryEnd = min(lost, turnedOff, horizon)
    span(.inRetry, period, end, retryEnd)
    if retryEnd == horizon { return }
    let isRefunded = period.refundedAt.map { $0 > end && $0 <= retryEnd } ?? false
    let isCancelled = retryEnd == turnedOff && !isGivenUp
    flow(isCancelled ? .retryCancelled : .retryLost, period, at: retryEnd) { posting in
      if isRefunded { posting.reason = "REFUND" }
    }
  }

  /// Records Apple's grace period after a failed payment, and returns the end of access.
  private mutating func endGrace(
    _ period: SubscriptionPeriod, _ ending: PeriodEnding, before cut: Instant
  ) -> Instant {
    guard let graceEnd = ending.failure?.graceEnd, graceEnd > period.expires, cut > period.expires else {
      return period.expires
    }
    let end = min(graceEnd, cut)
    flow(.graceEntered, period, at: period.expires) { _ in }
    span(.inGrace, period, period.expires, end)
    if end == graceEnd { flow(.graceEnded, period, at: end) { _ in } }
    return end
  }

  /// Records the whole days from `start` to `end`, at the end.
  private mutating func days(
    _ kind: Posting.Kind, _ period: SubscriptionPeriod, _ start: Instant, _ end: Instant
  ) {
    let days = end.milliseconds(since: start) / ReportDay.length
    if days > 0 { flow(kind, period, at: end) { posting in posting.count = days } }
  }

  /// Records a stock of one unit from `start` to `end`.
  mutating func span(
    _ kind: Posting.Kind, _ period: SubscriptionPeriod, _ start: Instant, _ end: Instant
  ) {
    guard start < end else { return }
    flow(kind, period, at: start) { _ in }
    guard end < .openEnd else { return }
    flow(kind, period, at: end) { posting in posting.count = -1 }
  }
}

extension PeriodEnding.Failure {
  /// When a payment in the grace period was made, if the next period is dated to the end of the period before, as the
  /// billing cycle is kept; `nil` if none was.
  fileprivate func recoveredInGrace(after expires: Instant) -> Instant? {
    guard let graceEnd, let followedAt, followedAt > expires else { return nil }
    return min(followedAt, graceEnd)
  }
}

extension CustomerFacts {
  /// The failed renewals of a line by the start of their period. Of one period the last failure counts.
  func failures(ofLine line: String) -> [Instant: PeriodEnding.Failure] {
    guard let index = transactions.firstIndex(where: { $0.originalTransactionID == line }),
      let history = renewalHistory(of: index)
    else { return [:] }
    var failures: [Instant: PeriodEnding.Failure] = [:]
    for failure in failedRenewals(history) {
      let start = transactions[failure.period].purchaseDate
      let known = failures[start]
      failures[start] = PeriodEnding.Failure(
        graceEnd: failure.graceEnd ?? known?.graceEnd, turnedOffAt: failure.turnedOffAt,
        followedAt: failure.followedAt ?? known?.followedAt)
    }
    return failures
  }
}

extension RenewalFact {
  /// Whether the customer ended the subscription.
  fileprivate var isOff: Bool {
    switch expirationIntent {
    case .customerCancelled?, .priceIncreaseNotAccepted?: true
    case nil: renewalStatus == .off
    case .billingError?, .productUnavailable?, .other?, .unrecognized?: false
    }
  }
}
