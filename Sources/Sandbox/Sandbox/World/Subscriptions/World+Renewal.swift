internal import AppStore

/// Changes by the passage of time.
extension World {
  /// Returns the length of Apple's billing retry in days: longer for the monthly plan (Apple: "Managing the life cycle
  /// of monthly subscriptions with a 12-month commitment", billing issues).
  static func retryDays(of plan: BillingPlan) -> Int64 { plan == .monthly ? 90 : 60 }

  /// Processes a subscription whose ``SubscriptionLine/due`` time has come.
  mutating func processDue(for line: SubscriptionLine) {
    if line.leavesAtEnd { return end(line, .customerCancelled, .voluntary) }
    var line = line
    if let date = line.failureNoticeDate, date <= now { line = announceFailure(of: line) }
    if let date = line.priceNoticeDate, date <= now { line = announcePriceIncrease(of: line) }
    guard let due = line.statusEnd, due <= now else { return }
    switch line.status {
    case .active: renew(line)
    case .grace:
      line.status = .retry(until: retryEnd(of: line))
      put(line)
      notify(.gracePeriodExpired, of: line)
    case .retry: end(line, .billingError, .billingRetry)
    case .ended, .revoked: break
    }
  }

  /// The reason why a subscription is not renewed: it ends, with Apple's intent and subtype, or the charge fails.
  private enum RenewalFailure {
    case ended(ExpirationIntent, NotificationSubtype?)
    case billing
  }

  /// The reason why the next charge is not made now; `nil` if it is.
  private func renewalFailure(to line: SubscriptionLine) -> RenewalFailure? {
    let charge = line.nextCharge
    if product(charge.productID, of: line.app) == nil {
      return .ended(.productUnavailable, .productNotForSale)
    }
    return renewalEnd(of: line) ?? (accounts[line.account]?.billingFails == true ? .billing : nil)
  }

  /// The reason why a subscription ends with its period. The remaining payments of a commitment do not depend on any.
  private func renewalEnd(of line: SubscriptionLine) -> RenewalFailure? {
    guard !line.owesPayments else { return nil }
    if settings[line.app]?.withdrawn.contains(line.renewalProductID) == true {
      return .ended(.productUnavailable, .productNotForSale)
    }
    if !line.autoRenews {
      let rules = settings[line.app]?.commitmentRules ?? CommitmentRules()
      return .ended(
        .customerCancelled, line.commitment == nil ? .voluntary : rules.expiredSubtype.subtype)
    }
    if line.priceIncrease?.state == .pending { return .ended(.priceIncreaseNotAccepted, .priceIncrease) }
    if let limit = scale(of: line.account).maxRenewals, line.renewals >= limit {
      return .ended(.customerCancelled, .voluntary)
    }
    return nil
  }

  /// Charges the next period, up to a day before its beginning. If the charge fails early, Apple tries again at the
  /// end of the period.
  private mutating func renew(_ line: SubscriptionLine) {
    let renewalFailure = renewalFailure(to: line)
    guard renewalFailure == nil || now >= line.expiresDate else {
      // The reason may disappear until the period's end.
      var line = line
      line.chargeDate = line.expiresDate
      if case .billing? = renewalFailure { line.hasFailedCharge = true }
      return put(line)
    }
    switch renewalFailure {
    case .ended(let intent, let subtype)?: end(line, intent, subtype)
    case .billing?: failToRenew(line)
    case nil:
      guard let product = product(line.nextCharge.productID, of: line.app) else { return }
      let subtype: NotificationSubtype? = line.hasFailedCharge ? .billingRecovery : nil
      let renewed = charge(line, product, from: line.expiresDate)
      notify(.didRenew, subtype, of: renewed)
      // The former product may not have been shareable.
      share(renewed)
    }
  }

  /// Sells the next period with the agreed product, plan, price and offer.
  private mutating func charge(
    _ line: SubscriptionLine, _ product: SandboxProduct, from start: Instant
  ) -> SubscriptionLine {
    var line = line
    line.current = makeNumber()
    line.renewals += 1
    let next = line.nextCharge
    if next.commitment == nil, line.announcedIncrease != nil {
      line.increaseDate = start
      line.priceIncrease = nil
    }
    let offer = takeOffer(from: &line)
    return beginPeriod(
      PeriodPricing(
        product: product, plan: next.plan, start: start, quantity: line.renewalQuantity, reason: .renewal,
        price: next.price, offer: offer, continuing: next.commitment), of: line)
  }

  /// Returns the offer of the next period: the active one, then the redeemed one, which waits for the end of a
  /// commitment.
  private func takeOffer(from line: inout SubscriptionLine) -> Offer? {
    if var running = line.runningOffer, running.left > 0 {
      running.left -= 1
      line.runningOffer = running
      return running.offer
    }
    line.runningOffer = nil
    guard !line.owesPayments else { return nil }
    line.runningOffer = line.pendingOffer.map { ActiveOffer(offer: $0, left: $0.periods - 1) }
    line.pendingOffer = nil
    return line.runningOffer?.offer
  }

  /// Begins the grace period or billing retry of a subscription whose charge failed.
  private mutating func failToRenew(_ line: SubscriptionLine) {
    var line = line
    var graceDays =
      settings[line.app]?.gracePeriod
      .days(for: product(line.productID, of: line.app), after: current(of: line)) ?? 0
    // Apple, "Managing the life cycle of monthly subscriptions with a 12-month commitment": no billing grace period.
    if line.nextCharge.plan == .monthly { graceDays = 0 }
    if graceDays > 0 {
      let isWeekly = product(line.productID, of: line.app)?.isWeekly == true
      let length = scale(of: line.account).grace(days: graceDays, isWeekly: isWeekly)
      line.status = .grace(until: line.expiresDate.advanced(byMilliseconds: length))
    } else {
      line.status = .retry(until: retryEnd(of: line))
    }
    let date = failureNoticeDate(of: line, endingAt: line.expiresDate)
    line.failureNoticeDate = date
    put(line)
    // The members' state changes with the purchaser's; the notifications follow.
    if date <= now { _ = announceFailure(of: line) } else { followPurchaser(line) { _, _ in } }
  }

  /// Sends `DID_FAIL_TO_RENEW` with the current state, which may have recovered since.
  ///
  /// - Returns: the updated subscription.
  private mutating func announceFailure(of line: SubscriptionLine) -> SubscriptionLine {
    var line = line
    line.failureNoticeDate = nil
    put(line)
    switch line.status {
    case .grace: notify(.didFailToRenew, .gracePeriod, of: line)
    case .retry, .active: notify(.didFailToRenew, of: line)
    case .ended, .revoked: break
    }
    return line
  }

  /// The end of Apple's billing retry, counted from the end of the paid period.
  private func retryEnd(of line: SubscriptionLine) -> Instant {
    line.expiresDate.advanced(
      byMilliseconds: scale(of: line.account).length(days: Self.retryDays(of: line.nextCharge.plan)))
  }

  /// Retries the failed charge successfully, unless the subscription is not to be renewed for another reason. A
  /// subscription without a failed charge stays as it is.
  ///
  /// The billing date is kept before the end of the period and in the grace period; after them, a new one starts now
  /// (Apple: "Reducing Involuntary Subscriber Churn").
  mutating func recover(_ line: SubscriptionLine) {
    guard let product = product(line.nextCharge.productID, of: line.app), renewalFailure(to: line) == nil
    else {
      return
    }
    switch line.status {
    case .grace: notify(.didRenew, .billingRecovery, of: charge(line, product, from: line.expiresDate))
    case .retry: notify(.didRenew, .billingRecovery, of: charge(line, product, from: now))
    case .active where line.hasFailedCharge:
      var renewed = charge(line, product, from: line.expiresDate)
      if announcesStaleFailure(of: line, endingAt: line.expiresDate) {
        renewed.failureNoticeDate = failureNoticeDate(of: line, endingAt: line.expiresDate)
        put(renewed)
      }
      notify(.didRenew, .billingRecovery, of: renewed)
    case .active, .ended, .revoked: return
    }
    share(lines[line.id] ?? line)
  }

  /// Ends a subscription that is not renewed, and with it the subscriptions of its members. The line stays, for a
  /// customer who buys again.
  mutating func end(
    _ line: SubscriptionLine, _ intent: ExpirationIntent, _ subtype: NotificationSubtype?
  ) {
    var line = line
    line.status = .ended(intent)
    line.autoRenews = false
    line.commitment = nil
    line.leavesAtEnd = false
    line.runningOffer = nil
    line.pendingOffer = nil
    put(line)
    notify(.expired, subtype, of: line)
  }
}
