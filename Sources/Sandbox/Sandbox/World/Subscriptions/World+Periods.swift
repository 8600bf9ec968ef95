internal import AppStore

/// What one period of a subscription is bought for.
struct PeriodPricing {
  let product: SandboxProduct
  let start: Instant
  let quantity: Int64
  let reason: TransactionReason
  /// What it costs where no offer says otherwise.
  let price: Int64
  var offer: Offer?
}

extension World {
  /// Sells a period: a transaction, and the line that now runs until its end.
  mutating func beginPeriod(_ pricing: PeriodPricing, of line: SubscriptionLine) -> SubscriptionLine {
    var line = line
    let end = periodEnd(pricing)
    let transaction = SoldTransaction(
      id: line.current, originalID: line.id, app: line.app, account: line.account,
      productID: pricing.product.productId, orderID: orderID(line.current), webOrderLineItemID: makeNumber(),
      purchaseDate: pricing.start, originalPurchaseDate: line.originalPurchaseDate, expiresDate: end,
      quantity: pricing.quantity, appAccountToken: line.appAccountToken, ownership: line.ownership,
      reason: pricing.reason, price: pricing.offer?.price ?? pricing.price,
      storefront: accounts[line.account]?.storefront ?? .usa, offer: pricing.offer)
    append(transaction)
    line.productID = pricing.product.productId
    line.renewalProductID = pricing.product.productId
    line.renewalQuantity = pricing.quantity
    line.renewalPrice = pricing.price
    line.expiresDate = end
    line.chargeDate = scale.chargeDate(before: end)
    line.status = .active
    put(line)
    return line
  }

  /// Remembers a transaction as the latest of its account.
  mutating func append(_ transaction: SoldTransaction) {
    transactions[transaction.id] = transaction
    history[Ownership(app: transaction.app, account: transaction.account), default: []].append(transaction.id)
  }

  func orderID(_ number: Int64) -> String { "M" + String(number, radix: 36, uppercase: true) }

  private func periodEnd(_ pricing: PeriodPricing) -> Instant {
    var period = pricing.product.period
    if let offer = pricing.offer, offer.mode != .payAsYouGo { period = offer.period }
    // A subscription whose period nobody gave lasts thirty days.
    guard let period else { return pricing.start.advanced(byMilliseconds: scale.length(days: 30)) }
    return scale.end(of: period, from: pricing.start)
  }

  /// The line of a purchase that has not begun: its first period is still to be bought.
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
