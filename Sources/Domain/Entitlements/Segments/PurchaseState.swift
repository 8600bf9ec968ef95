package import AppStore

/// The state of one purchase from an instant on, until time or new evidence changes it.
package struct PurchaseState: Hashable, Sendable {
  /// The reason of the answer that the purchase alone would lead to.
  package let reason: EntitlementReason
  /// Follows from ``reason``.
  package let state: SegmentState
  /// The transaction that decides the state.
  package let transactionID: String
  /// The product of the deciding transaction.
  package let productID: String
  /// ISO 3166-1 alpha-3; empty if Apple sent none.
  package let storefront: String
  /// The payment mode of the deciding period.
  package let mode: EntitlementSubstate
  /// The customer's relation to the purchase.
  package let ownership: InAppOwnershipType
  /// When the state began: the start of the unbroken access, the end of access, the end of the paid period for a grace
  /// period, and the time at which auto-renew was turned off.
  package let since: Instant
  /// The end of the paid period, of the grace period or of billing retry; `nil` without one.
  package let endsAt: Instant?
  /// The end of the commitment of an active subscription; `nil` without one.
  package let commitmentEndsAt: Instant?
  /// Whether a price increase ends the subscription unless the customer consents; never for a shared purchase.
  package let needsPriceConsent: Bool
  /// The win-back offers for which the customer is eligible, best first; empty while the purchase is active, and for a
  /// shared purchase.
  package let winBackOfferIDs: [String]
  /// The days of paid service, for 85 % of the price after a year.
  package let paidService: PaidServiceCount
  /// In milliunits of ``currency``; `nil` if Apple sent none.
  package let price: Int64?
  /// ISO 4217.
  package let currency: String?
  /// When time alone next changes one of these; `nil`: never.
  package var validUntil: Instant?

  /// Recreates a stored state.
  package init(
    reason: EntitlementReason, transactionID: String, productID: String, storefront: String,
    mode: EntitlementSubstate, ownership: InAppOwnershipType, since: Instant, endsAt: Instant?,
    commitmentEndsAt: Instant?, needsPriceConsent: Bool, winBackOfferIDs: [String],
    paidService: PaidServiceCount, price: Int64?, currency: String?, validUntil: Instant?
  ) {
    self.reason = reason
    state = SegmentState(reason)
    self.transactionID = transactionID
    self.productID = productID
    self.storefront = storefront
    self.mode = mode
    self.ownership = ownership
    self.since = since
    self.endsAt = endsAt
    self.commitmentEndsAt = commitmentEndsAt
    self.needsPriceConsent = needsPriceConsent
    self.winBackOfferIDs = winBackOfferIDs
    self.paidService = paidService
    self.price = price
    self.currency = currency
    self.validUntil = validUntil
  }
}

/// The paid service of a purchase, which grows while a paid period runs.
package enum PaidServiceCount: Hashable, Sendable {
  /// Milliseconds that do not grow.
  case fixed(Int64)
  /// It grows; it would have been 0 at this instant.
  case growing(since: Instant)

  /// The milliseconds at `now`.
  package func milliseconds(at now: Instant) -> Int64 {
    switch self {
    case .fixed(let count): count
    case .growing(let start): max(0, now.milliseconds(since: start))
    }
  }
}

extension PurchaseState {
  /// The maximum number of instants to evaluate; the first one mostly changes the state.
  private static let instantLimit = 16

  /// Evaluates the facts of one purchase at `now`, as if each product granted access; the operator's grace period and
  /// sharing rules do not count.
  ///
  /// - Returns: `nil` for a product that grants no access, such as a consumable.
  package init?(_ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, at now: Instant) {
    guard let evaluation = PurchaseEvaluation(facts, in: app), let state = evaluation.state(at: now) else {
      return nil
    }
    self = state
    let instants = evaluation.changeInstants(after: now)
    validUntil =
      instants.prefix(Self.instantLimit).first { evaluation.state(at: $0) != state }
      ?? instants.dropFirst(Self.instantLimit).first
  }
}

/// The facts of one purchase with what does not depend on the time.
private struct PurchaseEvaluation {
  let facts: CustomerFacts
  let intervals: AccessIntervals
  let periods: [PaidService.Period]

  init?(_ stored: borrowing CustomerFacts, in app: borrowing AppDefinition) {
    facts = stored.purchases(in: app)
    guard facts.transactions.contains(where: \.hasState) else { return nil }
    let products = Set(facts.transactions.map(\.productID))
    intervals = AccessIntervals(facts, .ownership(ofAny: products, in: app))
    periods = PaidService.periods(
      facts.transactions.indices.filter { [facts] in facts.transactions[$0].isSubscription }, facts)
  }

  /// The state at `now`, without its end.
  func state(at now: Instant) -> PurchaseState? {
    let status = evaluate(facts, intervals, at: now)
    let index = status.deciding.flatMap { deciding in
      facts.transactions.firstIndex { $0.transactionID == deciding.transactionID }
    }
    guard let index = index ?? facts.transactions.indices.first else { return nil }
    let fact = facts.transactions[index]
    return PurchaseState(
      reason: status.reason, transactionID: fact.transactionID, productID: fact.productID,
      storefront: fact.details.storefront ?? "", mode: status.substate, ownership: fact.ownership,
      since: since(status, index, at: now), endsAt: end(status),
      commitmentEndsAt: status.isEntitled ? status.deciding?.commitment?.expiresDate : nil,
      needsPriceConsent: status.isEntitled && !fact.isShared && status.outlook?.needsPriceConsent == true,
      winBackOfferIDs: status.isEntitled || fact.isShared ? [] : status.outlook?.winBackOfferIDs ?? [],
      paidService: paidService(at: now), price: fact.totalPrice, currency: fact.details.currency,
      validUntil: nil)
  }

  /// Returns when the state began: of auto-renew off the time when it was turned off, of a grace period the end of
  /// what was paid.
  private func since(_ status: EntitlementStatus, _ index: Int, at now: Instant) -> Instant {
    let bought = facts.transactions[index].purchaseDate
    switch status.reason {
    case .subscriptionNotRenewing:
      let off = facts.timesWithRenewalOff(index).last { $0.start <= now }?.start
      return off.map { max($0, bought) } ?? status.since ?? bought
    case .inGracePeriod: return status.paidUntil ?? status.since ?? bought
    default: return status.since ?? status.until ?? status.paidUntil ?? bought
    }
  }

  private func end(_ status: EntitlementStatus) -> Instant? {
    switch status.reason {
    case .subscriptionActive, .subscriptionNotRenewing: status.paidUntil
    case .inGracePeriod, .awaitingRenewal, .nonRenewingActive, .trialActive: status.until
    case .billingRetry: status.actBy
    default: nil
    }
  }

  private func paidService(at now: Instant) -> PaidServiceCount {
    let count = PaidService.milliseconds(periods, upTo: now)
    let isGrowing = PaidService.milliseconds(periods, upTo: now.advanced(byMilliseconds: 1)) > count
    return isGrowing ? .growing(since: now.advanced(byMilliseconds: -count)) : .fixed(count)
  }

  /// The instants after `now` at which the state may change, in order.
  func changeInstants(after now: Instant) -> [Instant] {
    // A pause that is too long resets the paid service.
    let reset = periods.map(\.end).max()?.advanced(byMilliseconds: PaidService.maxPause + 1)
    // The count pauses in the days of an extension.
    let pauses = periods.filter { !$0.isPaid }.map(\.start)
    let instants = intervals.changeInstants(after: now, facts)
    let others = (pauses + (reset.map { [$0] } ?? [])).filter { $0 > now }
    return others.isEmpty ? instants : (instants + others).sorted()
  }
}

extension TransactionFact {
  /// Whether the purchase has a state: its product grants access.
  fileprivate var hasState: Bool {
    switch type {
    case .autoRenewableSubscription, .nonConsumable, .nonRenewingSubscription: true
    case .consumable, .unrecognized: false
    }
  }
}

extension PurchaseState {
  /// Returns the advice for the purchase; see ``EntitlementStatus/advice(in:)``. In a commitment there is none about
  /// staying.
  package func advice(in app: borrowing AppDefinition) -> [Advice] {
    if commitmentEndsAt != nil, reason == .subscriptionNotRenewing { return [] }
    let outlook = RenewalOutlook(
      willRenew: nil, productID: nil, price: nil, currency: nil, needsPriceConsent: needsPriceConsent,
      winBackOfferIDs: winBackOfferIDs)
    let deciding = DecidingTransaction(
      transactionID: transactionID, originalTransactionID: transactionID, productID: productID,
      type: nil, ownership: ownership)
    return EntitlementStatus(
      reason, accessLevel: .none, substate: mode, productState: .new, since: since, until: nil,
      paidUntil: nil, checkAgainAt: nil, actBy: endsAt, deciding: deciding, grant: nil, outlook: outlook
    ).advice(in: app)
  }

  /// The price for a year in milliunits while the subscription is active and paid; `nil` if the catalog has no period of
  /// the product. A year has 52 weeks.
  package func annualPrice(in app: borrowing AppDefinition) -> Int64? {
    guard [.activeAutoRenewOn, .activeAutoRenewOff, .gracePeriod].contains(state), mode != .freeTrial,
      let price, let period = app.products[productID]?.price?.period
    else { return nil }
    let count: Int64? =
      switch (period.months, period.days) {
      // A commitment is paid each month.
      case _ where commitmentEndsAt != nil: 12
      case (0, 7): 52
      case (1...12, 0) where 12 % period.months == 0: Int64(12 / period.months)
      default: nil
      }
    guard let count else { return nil }
    let (amount, overflow) = price.multipliedReportingOverflow(by: count)
    return overflow ? nil : amount
  }
}
