internal import AppStore

/// Changes by the passage of time.
extension World {
  /// The length of Apple's billing retry in days.
  static let retryDays: Int64 = 60

  /// Processes a subscription whose ``SubscriptionLine/due`` time has come.
  mutating func processDue(for line: SubscriptionLine) {
    switch line.status {
    case .active: renew(line)
    case .grace:
      var line = line
      line.status = .retry(until: retryEnd(of: line))
      put(line)
      notify(.gracePeriodExpired, of: line)
    case .retry: end(line, .billingError, .billingRetry)
    case .ended, .revoked: break
    }
  }

  /// The reason why a subscription is not renewed.
  private enum RenewalFailure {
    case ended(ExpirationIntent, NotificationSubtype)
    case billing
  }

  private func renewalFailure(to line: SubscriptionLine) -> RenewalFailure? {
    if product(line.renewalProductID, of: line.app) == nil
      || settings[line.app]?.withdrawn.contains(line.renewalProductID) == true
    {
      return .ended(.productUnavailable, .productNotForSale)
    }
    if !line.autoRenews { return .ended(.customerCancelled, .voluntary) }
    if line.priceIncrease?.isAgreed == false { return .ended(.priceIncreaseNotAccepted, .priceIncrease) }
    if case .compressed = scale, line.renewals >= TimeScale.maxRenewals {
      return .ended(.customerCancelled, .voluntary)
    }
    return accounts[line.account]?.billingFails == true ? .billing : nil
  }

  private mutating func renew(_ line: SubscriptionLine) {
    let renewalFailure = renewalFailure(to: line)
    guard renewalFailure == nil || now >= line.expiresDate else {
      // The reason may disappear until the period's end.
      var line = line
      line.chargeDate = line.expiresDate
      return put(line)
    }
    switch renewalFailure {
    case .ended(let intent, let subtype)?: end(line, intent, subtype)
    case .billing?: failToRenew(line)
    case nil:
      guard let product = product(line.renewalProductID, of: line.app) else { return }
      notify(.didRenew, of: charge(line, product, from: line.expiresDate))
    }
  }

  /// Sells the next period with the agreed product, price and offer.
  private mutating func charge(
    _ line: SubscriptionLine, _ product: SandboxProduct, from start: Instant
  ) -> SubscriptionLine {
    var line = line
    line.current = makeNumber()
    line.renewals += 1
    let price = line.priceIncrease?.price ?? line.renewalPrice
    line.priceIncrease = nil
    let offer = takeOffer(from: &line)
    return beginPeriod(
      PeriodPricing(
        product: product, start: start, quantity: line.renewalQuantity, reason: .renewal, price: price,
        offer: offer), of: line)
  }

  /// Returns the offer of the next period: the active one, then the redeemed one.
  private func takeOffer(from line: inout SubscriptionLine) -> Offer? {
    if var running = line.runningOffer, running.left > 0 {
      running.left -= 1
      line.runningOffer = running
      return running.offer
    }
    line.runningOffer = line.pendingOffer.map { ActiveOffer(offer: $0, left: $0.periods - 1) }
    line.pendingOffer = nil
    return line.runningOffer?.offer
  }

  private mutating func failToRenew(_ line: SubscriptionLine) {
    var line = line
    let graceDays =
      settings[line.app]?.gracePeriod
      .days(for: product(line.productID, of: line.app), after: current(of: line)) ?? 0
    if graceDays > 0 {
      let end = line.expiresDate.advanced(byMilliseconds: scale.length(days: graceDays))
      line.status = .grace(until: end)
      put(line)
      notify(.didFailToRenew, .gracePeriod, of: line)
    } else {
      line.status = .retry(until: retryEnd(of: line))
      put(line)
      notify(.didFailToRenew, of: line)
    }
  }

  private func retryEnd(of line: SubscriptionLine) -> Instant {
    line.expiresDate.advanced(byMilliseconds: scale.length(days: Self.retryDays))
  }

  /// Retries the failed charge successfully. The billing date is kept in the grace period; after it, a new
  /// one starts now.
  mutating func recover(_ line: SubscriptionLine) {
    guard let product = product(line.renewalProductID, of: line.app) else { return }
    let start: Instant
    switch line.status {
    case .grace: start = line.expiresDate
    case .retry: start = now
    case .active, .ended, .revoked: return
    }
    notify(.didRenew, .billingRecovery, of: charge(line, product, from: start))
  }

  /// Ends a subscription that is not renewed.
  mutating func end(
    _ line: SubscriptionLine, _ intent: ExpirationIntent, _ subtype: NotificationSubtype
  ) {
    var line = line
    line.status = .ended(intent)
    line.autoRenews = false
    line.runningOffer = nil
    line.pendingOffer = nil
    put(line)
    notify(.expired, subtype, of: line)
  }
}
