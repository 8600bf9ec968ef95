internal import AppStore

/// Changes of a running subscription by the subscriber.
extension World {
  /// The effect of changing to another product of the group (Apple: "Auto-renewable subscriptions", levels of
  /// service).
  private enum Step {
    case same
    /// A higher level, or the same level and duration: effective at once.
    case now
    /// A lower level, or the same level with another duration: effective at the next renewal.
    case atRenewal
  }

  /// Apple: "Supporting monthly subscriptions with a 12-month commitment", upgrades and downgrades. The timing of a
  /// change within a level depends on duration and billing plan of both products; Apple's table of it is not public,
  /// so the rule for durations applies to billing plans, too.
  private func step(
    of line: SubscriptionLine, to new: SandboxProduct, _ plan: BillingPlan
  ) -> Step {
    guard let old = product(line.productID, of: line.app) else { return .now }
    let oldPlan = current(of: line)?.billingPlan ?? .billedUpfront
    if old.productId == new.productId { return plan == oldPlan ? .same : .atRenewal }
    if new.level != old.level { return new.level < old.level ? .now : .atRenewal }
    return new.period == old.period && plan == oldPlan ? .now : .atRenewal
  }

  /// Processes an order of an account whose subscription is running.
  ///
  /// - Returns: the id of the transaction that the app receives: a new one after an upgrade, otherwise the
  ///   current one.
  mutating func change(
    _ line: SubscriptionLine, to product: SandboxProduct, _ order: PurchaseOrder, _ offer: Offer?
  ) throws(ActionError) -> Int64 {
    try checkSeats(of: order, line)
    switch step(of: line, to: product, order.billingPlan) {
    case .same:
      // The order names the new total (StoreKit: Product.PurchaseOption.seats).
      if let seats = order.seats { try setSeats(seats, of: line) }
      let additions = lines[line.id]?.additions ?? []
      stay(lines[line.id] ?? line, product, order.billingPlan, offer)
      if let added = additions.last, !line.additions.contains(added) { return added }
    case .now: upgrade(line, to: product, order, offer)
    case .atRenewal: changeAtRenewal(line, to: product, order, offer)
    }
    return lines[line.id]?.current ?? line.current
  }

  /// A purchase cannot reduce the number of seats (StoreKit: Product.PurchaseError.seatReductionNotAllowed).
  private func checkSeats(of order: PurchaseOrder, _ line: SubscriptionLine) throws(ActionError) {
    if let seats = order.seats, seats < self.seats(of: line) {
      throw .notPossible("a purchase cannot reduce the seats of subscription \(line.id)")
    }
    let mixesPlans =
      line.invitations != nil ? order.billingPlan == .monthly : order.seats != nil && isCommitted(line)
    if mixesPlans { throw Self.noSeatsInCommitments }
  }

  /// Buys the running product again: withdraws planned changes, turns auto-renew on, and adds the offer.
  private mutating func stay(
    _ line: SubscriptionLine, _ product: SandboxProduct, _ plan: BillingPlan, _ offer: Offer?
  ) {
    var line = line
    let hadOtherPlans = line.renewalProductID != product.productId || line.renewalPlan != plan
    let wasOff = !line.autoRenews
    if hadOtherPlans {
      // The price increase and the offer are those of the product that was planned.
      line.priceIncrease = nil
      line.pendingOffer = nil
    }
    line.renewalProductID = product.productId
    line.renewalPlan = plan
    line.renewalPrice = price(of: product, plan, in: line.app, for: line.account)
    line.autoRenews = true
    line.pendingOffer = offer ?? line.pendingOffer
    put(line)
    guard offer != nil else {
      if hadOtherPlans { notify(.didChangeRenewalPref, of: line) }
      if wasOff { notify(.didChangeRenewalStatus, .autoRenewEnabled, of: line) }
      return
    }
    if let transaction = current(of: line) { notify(.offerRedeemed, about: transaction) }
    // Members do not redeem offers: they see what else changes.
    if hadOtherPlans { notifyMembers(.didChangeRenewalPref, of: line) }
    if wasOff { notifyMembers(.didChangeRenewalStatus, .autoRenewEnabled, of: line) }
  }

  /// Changes to a product of a higher level at once: the running period is marked as upgraded, and one of full length
  /// begins.
  private mutating func upgrade(
    _ line: SubscriptionLine, to product: SandboxProduct, _ order: PurchaseOrder, _ offer: Offer?
  ) {
    // The renewal may have been charged before its period starts. A period in its grace period is over and is not cut
    // short.
    for sold in purchases(of: line.account, in: line.app)
    where sold.originalID == line.id && sold.revocation == nil && sold.expiresDate.map({ now < $0 }) == true {
      transactions[sold.id]?.isUpgraded = true
    }
    refundCommitment(of: line)
    let held = seats(of: line)
    var line = line
    if order.seats != nil {
      line.invitations = line.invitations ?? invitationManagement(of: product.productId, in: line.app)
    }
    line.current = makeNumber()
    line.appAccountToken = order.appAccountToken?.lowercased() ?? line.appAccountToken
    line.autoRenews = true
    line.priceIncrease = nil
    line.pendingOffer = nil
    line.runningOffer = offer.map { ActiveOffer(offer: $0, left: $0.periods - 1) }
    line = beginPeriod(
      PeriodPricing(
        product: product, plan: order.billingPlan, start: now, quantity: order.seats ?? max(1, held),
        reason: .purchase, price: price(of: product, order.billingPlan, in: line.app, for: line.account),
        offer: offer), of: line)
    notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade, of: line)
    // The former product may not have been shareable.
    share(line)
  }

  /// Refunds the unused part of a commitment's current period after an upgrade (Apple: "Supporting monthly
  /// subscriptions with a 12-month commitment": "a prorated refund for the unused portion of the commitment's current
  /// period"). The upgrade's notification reports it.
  private mutating func refundCommitment(of line: SubscriptionLine) {
    guard line.commitment != nil, let period = current(of: line), period.isUpgraded, period.price > 0,
      period.purchaseDate < line.expiresDate
    else { return }
    let unused = line.expiresDate.milliseconds(since: max(now, period.purchaseDate))
    let length = line.expiresDate.milliseconds(since: period.purchaseDate)
    transactions[line.current]?.revocation = SoldTransaction.Revocation(
      date: now, reason: .other, type: .refundProrated, percentage: unused * .wholePercentage / length)
  }

  /// Plans another product for the next renewal, as Apple does for a lower level and for the same level with another
  /// duration.
  private mutating func changeAtRenewal(
    _ line: SubscriptionLine, to product: SandboxProduct, _ order: PurchaseOrder, _ offer: Offer?
  ) {
    var line = line
    let plan = order.billingPlan
    if let seats = order.seats {
      line.invitations = line.invitations ?? invitationManagement(of: product.productId, in: line.app)
      line.renewalQuantity = seats
    }
    line.renewalProductID = product.productId
    line.renewalPlan = plan
    line.renewalPrice = price(of: product, plan, in: line.app, for: line.account)
    line.autoRenews = true
    line.priceIncrease = nil
    // Discounts of the payments of a commitment continue until its end.
    if !line.owesPayments { line.runningOffer = nil }
    line.pendingOffer = offer
    put(line)
    notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .downgrade, of: line)
  }

  /// Turns auto-renewal on or off.
  ///
  /// Turning it off during the grace period or billing retry ends the subscription at once (Apple: "Testing failing
  /// subscription renewals": "The system immediately cancels the subscription"). Apple does not document the subtype
  /// of the `EXPIRED` notification; `VOLUNTARY` follows from the customer's action. The remaining payments of a
  /// commitment continue, and so does their retry, because only the renewal of the commitment is cancelled.
  mutating func setAutoRenewal(_ isOn: Bool, of line: SubscriptionLine) {
    guard line.autoRenews != isOn else { return }
    var line = line
    line.autoRenews = isOn
    guard !isOn, line.status != .active, !line.owesPayments, let transaction = current(of: line) else {
      put(line)
      return notify(.didChangeRenewalStatus, isOn ? .autoRenewEnabled : .autoRenewDisabled, of: line)
    }
    // Both notifications carry the final state, because documents signed at the same time must not contradict each
    // other.
    line.status = .ended(.customerCancelled)
    line.commitment = nil
    line.runningOffer = nil
    line.pendingOffer = nil
    put(line)
    notify(.didChangeRenewalStatus, .autoRenewDisabled, about: transaction)
    notify(.expired, .voluntary, of: line)
  }

  // MARK: Consent

  /// Records the subscriber's answer to a price increase.
  mutating func answerPriceIncrease(isAgreed: Bool, of line: SubscriptionLine) throws(ActionError) {
    guard line.priceIncrease?.state == .pending else {
      throw .notPossible("subscription \(line.id) has no pending price increase")
    }
    // Without consent the subscription ends with its period and is reported then.
    guard isAgreed else { return }
    var line = line
    line.priceIncrease?.state = .accepted
    put(line)
    notify(.priceIncrease, .accepted, of: line)
  }

  // MARK: Extensions

  /// The reason why a renewal date cannot be extended.
  enum ExtensionError: Hashable {
    /// The subscription is not active or was free.
    case ineligible
    /// The renewal date was extended twice within a year.
    case tooOften
    case familyShared
  }

  /// Returns the reason why a renewal date cannot be extended, or `nil` if it can.
  func extensionError(of line: SubscriptionLine) -> ExtensionError? {
    guard line.source == nil else { return .familyShared }
    guard line.status == .active, current(of: line)?.price ?? 0 > 0 else { return .ineligible }
    let yearAgo = now.advanced(byDays: -365)
    return line.extensions.filter { $0 > yearAgo }.count < 2 ? nil : .tooOften
  }

  /// Extends the renewal date; ``extensionError(of:)`` must be `nil`.
  mutating func extend(_ line: SubscriptionLine, days: Int64, requestIdentifier: String? = nil) {
    var line = line
    line.extensions.append(now)
    line.expiresDate = line.expiresDate.advanced(
      byMilliseconds: scale(of: line.account).length(days: days))
    if let requestIdentifier { line.extensionResults[requestIdentifier] = line.expiresDate }
    line.chargeDate = chargeDate(
      of: line, from: current(of: line)?.purchaseDate ?? now, until: line.expiresDate)
    for transaction in periodTransactions(of: line) {
      transactions[transaction.id]?.firstExpiresDate = transaction.firstExpiresDate ?? transaction.expiresDate
      transactions[transaction.id]?.expiresDate = line.expiresDate
    }
    line.commitment?.extendPeriod(to: line.expiresDate)
    if let commitment = line.commitment {
      transactions[line.current]?.commitment?.expiresDate = commitment.expiresDate
    }
    if line.priceIncrease?.state == .scheduled { schedulePriceNotice(of: &line, from: now) }
    put(line)
    notify(.renewalExtended, of: line)
    for added in line.additions.compactMap({ transactions[$0] }) { notify(.renewalExtended, about: added) }
  }
}
