internal import AppStore

/// The product, start and price of one subscription period.
struct PeriodPricing {
  let product: SandboxProduct
  var plan = BillingPlan.billedUpfront
  let start: Instant
  let quantity: Int64
  let reason: TransactionReason
  /// The regular price, in thousandths of the currency.
  let price: Int64
  var offer: Offer?
  /// The commitment that the period continues.
  var continuing: Commitment?

  /// Returns the commitment to which the period belongs.
  ///
  /// Apple does not document how a trial and a commitment combine. Here the commitment begins with the first of the
  /// twelve payments, after a free trial or a prepaid offer; discounts of single payments belong to it.
  func commitment(_ scale: TimeScale) -> Commitment? {
    guard plan == .monthly else { return nil }
    if let continuing { return continuing.advanced(startingAt: start) }
    if let offer, offer.mode != .payAsYouGo { return nil }
    return Commitment(start: start, price: price, scale: scale)
  }
}

extension World {
  /// Sells a period and returns the updated subscription, which is stored. ``SubscriptionLine/current`` must be the id
  /// of the new transaction already. Sends no notification, because its type depends on the caller.
  mutating func beginPeriod(_ pricing: PeriodPricing, of line: SubscriptionLine) -> SubscriptionLine {
    var line = line
    let scale = scale(of: line.account)
    let commitment = pricing.commitment(scale)
    let end = commitment?.periodEnd ?? periodEnd(pricing, scale)
    let storefront = accounts[line.account]?.storefront ?? .usa
    let seats = line.invitations.map { invitations in
      SeatInfo(
        invitations: invitations,
        tiers: priceTiers(
          of: 0..<pricing.quantity, pricing.product, in: line.app, at: storefront, price: pricing.price,
          offer: pricing.offer))
    }
    let transaction = SoldTransaction(
      id: line.current, originalID: line.id, app: line.app, account: line.account,
      productID: pricing.product.productId, orderID: orderID(line.current), webOrderLineItemID: makeNumber(),
      purchaseDate: pricing.start, originalPurchaseDate: line.originalPurchaseDate, expiresDate: end,
      quantity: pricing.quantity, appAccountToken: line.appAccountToken, ownership: line.ownership,
      reason: pricing.reason,
      price: seats?.tiers.averagePrice ?? pricing.offer?.price ?? pricing.price,
      storefront: storefront, offer: pricing.offer, billingPlan: pricing.plan,
      commitment: commitment.map(CommitmentPayment.init), seats: seats)
    append(transaction)
    line.additions = []
    line.productID = pricing.product.productId
    line.commitment = commitment
    line.renewalQuantity = pricing.quantity
    // A payment leaves what the subscriber chose for the end of the commitment.
    if pricing.continuing == nil {
      line.renewalProductID = pricing.product.productId
      line.renewalPlan = pricing.plan
      line.renewalPrice = pricing.price
    }
    line.expiresDate = end
    line.chargeDate = chargeDate(of: line, from: pricing.start, until: end)
    line.hasFailedCharge = false
    line.status = .active
    if line.priceIncrease?.state == .scheduled { schedulePriceNotice(of: &line, from: pricing.start) }
    put(line)
    return line
  }

  /// Appends a transaction to its account's history.
  mutating func append(_ transaction: SoldTransaction) {
    transactions[transaction.id] = transaction
    history[Ownership(app: transaction.app, account: transaction.account), default: []].append(transaction.id)
  }

  /// The order id of a transaction: `M` and the id in base 36.
  func orderID(_ number: Int64) -> String { "M" + String(number, radix: 36, uppercase: true) }

  /// The end of a period that is no part of a commitment.
  private func periodEnd(_ pricing: PeriodPricing, _ scale: TimeScale) -> Instant {
    var period = pricing.product.period
    if let offer = pricing.offer, offer.mode != .payAsYouGo { period = offer.period }
    // Buying requires a period; only a later change of the catalog can remove it.
    guard let period else { return pricing.start.advanced(byMilliseconds: scale.length(days: 30)) }
    return scale.end(of: period, from: pricing.start)
  }

  /// Returns a subscription whose first period is still to be sold.
  mutating func newLine(
    _ product: SandboxProduct, app: String, account: String, start: Instant, source: SubscriptionLine? = nil,
    ownership: InAppOwnershipType = .purchased
  ) -> SubscriptionLine {
    let number = makeNumber()
    return SubscriptionLine(
      id: number, app: app, account: account, group: product.group, originalPurchaseDate: start,
      ownership: ownership, source: source?.id, current: number, productID: product.productId,
      expiresDate: start, chargeDate: start, renewalProductID: product.productId, renewalQuantity: 1,
      renewalPrice: 0,
      recentStart: start)
  }
}
