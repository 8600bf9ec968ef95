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
  mutating func beginPeriod(_ terms: PeriodPricing, of line: SubscriptionLine) -> SubscriptionLine {
    var line = line
    let end = periodEnd(terms)
    let transaction = SoldTransaction(
      id: line.current, originalID: line.id, app: line.app, account: line.account,
      productID: terms.product.productId, orderID: orderID(line.current), webOrderLineItemID: takeNumber(),
      purchaseDate: terms.start, originalPurchaseDate: line.originalPurchaseDate, expiresDate: end,
      quantity: terms.quantity, appAccountToken: line.appAccountToken, ownership: line.ownership,
      reason: terms.reason, price: terms.offer?.price ?? terms.price,
      storefront: accounts[line.account]?.storefront ?? .usa, offer: terms.offer)
    remember(transaction)
    line.productID = terms.product.productId
    line.renewalProductID = terms.product.productId
    line.renewalQuantity = terms.quantity
    line.renewalPrice = terms.price
    line.expiresDate = end
    line.chargeDate = scale.chargeDate(before: end)
    line.standing = .active
    put(line)
    return line
  }

  /// Remembers a transaction as the latest of its account.
  mutating func remember(_ transaction: SoldTransaction) {
    transactions[transaction.id] = transaction
    history[Ownership(app: transaction.app, account: transaction.account), default: []].append(transaction.id)
  }

  func orderID(_ number: Int64) -> String { "M" + String(number, radix: 36, uppercase: true) }

  private func periodEnd(_ terms: PeriodPricing) -> Instant {
    var period = terms.product.period
    if let offer = terms.offer, offer.mode != .payAsYouGo { period = offer.period }
    // A subscription whose period nobody gave lasts thirty days.
    guard let period else { return terms.start.advanced(byMilliseconds: scale.length(days: 30)) }
    return scale.end(of: period, from: terms.start)
  }

  /// The line of a purchase that has not begun: its first period is still to be bought.
  mutating func newLine(
    _ product: SandboxProduct, app: String, account: String, start: Instant, source: SubscriptionLine? = nil,
    ownership: InAppOwnershipType = .purchased
  ) -> SubscriptionLine {
    let number = takeNumber()
    return SubscriptionLine(
      id: number, app: app, account: account, group: product.group, originalPurchaseDate: start,
      ownership: ownership, source: source?.id, current: number, productID: product.productId,
      expiresDate: start, chargeDate: start, renewalProductID: product.productId, renewalQuantity: 1,
      renewalPrice: 0,
      recentStart: start)
  }
}
