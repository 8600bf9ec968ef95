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

  private func step(from old: SandboxProduct?, to new: SandboxProduct) -> Step {
    guard let old else { return .now }
    if old.productId == new.productId { return .same }
    if new.level != old.level { return new.level < old.level ? .now : .atRenewal }
    return new.period == old.period ? .now : .atRenewal
  }

  /// Processes an order of an account whose subscription is running.
  ///
  /// - Returns: the id of the transaction that the app receives: a new one after an upgrade, otherwise the
  ///   current one.
  mutating func change(
    _ line: SubscriptionLine, to product: SandboxProduct, _ order: PurchaseOrder, _ offer: Offer?
  ) throws(ActionError) -> Int64 {
    switch step(from: self.product(line.productID, of: line.app), to: product) {
    case .same: stay(line, product, offer)
    case .now: upgrade(line, to: product, order, offer)
    case .atRenewal: changeAtRenewal(line, to: product, offer)
    }
    return lines[line.id]?.current ?? line.current
  }

  private mutating func stay(_ line: SubscriptionLine, _ product: SandboxProduct, _ offer: Offer?) {
    var line = line
    let hadOtherPlans = line.renewalProductID != product.productId
    let wasOff = !line.autoRenews
    line.renewalProductID = product.productId
    line.renewalPrice = price(of: product, in: line.app, for: line.account)
    line.autoRenews = true
    line.pendingOffer = offer ?? line.pendingOffer
    put(line)
    if offer != nil { return notify(.offerRedeemed, of: line) }
    if hadOtherPlans { notify(.didChangeRenewalPref, of: line) }
    if wasOff { notify(.didChangeRenewalStatus, .autoRenewEnabled, of: line) }
  }

  private mutating func upgrade(
    _ line: SubscriptionLine, to product: SandboxProduct, _ order: PurchaseOrder, _ offer: Offer?
  ) {
    // A period in its grace period is over and is not cut short.
    transactions[line.current]?.isUpgraded = now < line.expiresDate
    var line = line
    line.current = makeNumber()
    line.appAccountToken = order.appAccountToken?.lowercased() ?? line.appAccountToken
    line.autoRenews = true
    line.priceIncrease = nil
    line.pendingOffer = nil
    line.runningOffer = offer.map { ActiveOffer(offer: $0, left: $0.periods - 1) }
    line = beginPeriod(
      PeriodPricing(
        product: product, start: now, quantity: order.seats ?? 1, reason: .purchase,
        price: price(of: product, in: line.app, for: line.account), offer: offer), of: line)
    notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade, of: line)
  }

  private mutating func changeAtRenewal(
    _ line: SubscriptionLine, to product: SandboxProduct, _ offer: Offer?
  ) {
    var line = line
    line.renewalProductID = product.productId
    line.renewalPrice = price(of: product, in: line.app, for: line.account)
    line.autoRenews = true
    line.priceIncrease = nil
    line.runningOffer = nil
    line.pendingOffer = offer
    put(line)
    notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .downgrade, of: line)
  }

  /// Turns auto-renewal on or off.
  ///
  /// Turning it off during the grace period or billing retry ends the subscription at once (Apple: "Testing failing
  /// subscription renewals": "The system immediately cancels the subscription"). Apple does not document the subtype
  /// of the `EXPIRED` notification; `VOLUNTARY` follows from the customer's action.
  mutating func setAutoRenewal(_ isOn: Bool, of line: SubscriptionLine) {
    guard line.autoRenews != isOn else { return }
    var line = line
    line.autoRenews = isOn
    guard !isOn, line.status != .active, let transaction = current(of: line) else {
      put(line)
      return notify(.didChangeRenewalStatus, isOn ? .autoRenewEnabled : .autoRenewDisabled, of: line)
    }
    // Both notifications carry the final state, because documents signed at the same time must not contradict each
    // other.
    line.status = .ended(.customerCancelled)
    line.runningOffer = nil
    line.pendingOffer = nil
    put(line)
    notify(.didChangeRenewalStatus, .autoRenewDisabled, about: transaction)
    notify(.expired, .voluntary, of: line)
  }

  /// Changes the number of seats: an increase at once, a decrease at the next renewal.
  mutating func setSeats(_ count: Int64, of line: SubscriptionLine) {
    var line = line
    let seats = current(of: line)?.quantity ?? 1
    guard count != line.renewalQuantity || count > seats else { return }
    line.renewalQuantity = count
    if count > seats { transactions[line.current]?.quantity = count }
    put(line)
    notify(.didChangeRenewalPref, count > seats ? .increaseQuantity : .decreaseQuantity, of: line)
  }

  // MARK: Consent

  /// Records the subscriber's answer to a price increase.
  mutating func answerPriceIncrease(isAgreed: Bool, of line: SubscriptionLine) throws(ActionError) {
    guard line.priceIncrease?.isAgreed == false else {
      throw .notPossible("subscription \(line.id) has no pending price increase")
    }
    // Without consent the subscription ends with its period and is reported then.
    guard isAgreed else { return }
    var line = line
    line.priceIncrease?.isAgreed = true
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
    let yearAgo = now.advanced(byMilliseconds: -365 * 86_400_000)
    return line.extensions.filter { $0 > yearAgo }.count < 2 ? nil : .tooOften
  }

  /// Extends the renewal date; ``extensionError(of:)`` must be `nil`.
  mutating func extend(_ line: SubscriptionLine, days: Int64) {
    var line = line
    line.extensions.append(now)
    line.expiresDate = line.expiresDate.advanced(byMilliseconds: scale.length(days: days))
    line.chargeDate = scale.chargeDate(before: line.expiresDate)
    transactions[line.current]?.expiresDate = line.expiresDate
    put(line)
    notify(.renewalExtended, of: line)
  }
}
