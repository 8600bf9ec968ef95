internal import AppStore
internal import Bytes

/// Purchases.
extension World {
  /// Performs a purchase.
  ///
  /// An owned product is not sold again: an order for a running subscription changes its renewal or upgrades it, and a
  /// non-consumable is restored. An order with a purchase date in the past is always recorded as it is.
  ///
  /// - Returns: the id of the transaction that the app receives.
  /// - Throws: ``ActionError``, with nothing changed.
  mutating func buy(_ order: PurchaseOrder) throws(ActionError) -> Int64 {
    let product = try check(order)
    let offer = try order.offer.map { name throws(ActionError) in
      try self.offer(name, for: product, in: order)
    }
    let account = order.account ?? "account-\(makeNumber())"
    if accounts[account]?.appInstalls[order.app] == nil {
      accounts[account, default: AppleAccount()].appInstalls[order.app] = AppInstall(
        originalPurchaseDate: order.purchaseDate ?? now)
    }
    guard product.type == .autoRenewableSubscription else {
      return buyOnce(product, order, account)
    }
    let owner = GroupOwnership(app: order.app, account: account, group: product.group)
    guard let line = ownLines[owner].flatMap({ lines[$0] }) else {
      return subscribe(product, order, account, offer)
    }
    if order.purchaseDate != nil { return resubscribe(line, product, order, offer) }
    switch line.status {
    case .active, .grace: return try change(line, to: product, order, offer)
    case .retry:
      // A new purchase during billing retry ends the retry.
      return resubscribe(line, product, order, offer)
    case .ended, .revoked: return resubscribe(line, product, order, offer)
    }
  }

  /// Returns the ordered product, if the order can be sold.
  private func check(_ order: PurchaseOrder) throws(ActionError) -> SandboxProduct {
    let product = try find(order.productId, of: order.app)
    try requireSaleTerms(of: product, in: order)
    if let token = order.appAccountToken, !token.isUUID { throw .invalidAppAccountToken }
    // StoreKit sells up to ten of a repeatable product and one of others.
    let isRepeatable = product.type == .consumable || product.type == .nonRenewingSubscription
    let allowed: ClosedRange<Int64> = 1...(isRepeatable ? 10 : 1)
    guard allowed.contains(order.quantity) else { throw .invalidQuantity(allowed: allowed) }
    try checkSeats(of: order, product)
    if let date = order.purchaseDate, date > now { throw .purchaseDateInFuture }
    if settings[order.app]?.withdrawn.contains(product.productId) == true {
      throw .notPossible("product '\(product.productId)' is withdrawn from sale")
    }
    if let account = order.account, accounts[account]?.billingFails == true {
      throw .notPossible("the account's charges fail")
    }
    return product
  }

  /// Seats need an auto-renewable subscription that is billed up front, and an organization needs seats.
  private func checkSeats(of order: PurchaseOrder, _ product: SandboxProduct) throws(ActionError) {
    guard order.seats != nil || order.isOrganization else { return }
    guard product.type == .autoRenewableSubscription else { throw .notASubscription(product.productId) }
    guard order.billingPlan == .billedUpfront else { throw Self.noSeatsInCommitments }
    guard (1...Self.maxSeats).contains(order.seats ?? 0) else {
      throw .wrongType(member: "seats", expected: "between 1 and \(Self.maxSeats)")
    }
  }

  /// Throws if the product has no price or, as a subscription, no period.
  private func requireSaleTerms(of product: SandboxProduct, in order: PurchaseOrder) throws(ActionError) {
    if product.type == .autoRenewableSubscription, product.period == nil {
      throw .incompleteProduct(product.productId, missing: "period")
    }
    let storefront = order.account.flatMap { accounts[$0] }?.storefront ?? .usa
    let prices = settings[order.app]?.prices
    let price =
      prices?.byStorefront[storefront.code]?[product.productId] ?? prices?.everywhere[product.productId]
      ?? product.price
    guard price != nil else { throw .incompleteProduct(product.productId, missing: "price") }
    guard order.billingPlan == .monthly else { return }
    guard product.monthlyPrice != nil else {
      throw .incompleteProduct(product.productId, missing: "monthly_price")
    }
    guard !Commitment.excludedStorefronts.contains(storefront.code) else {
      throw .notPossible(
        "the monthly plan is not sold in storefront \(storefront.code); move the account to another one")
    }
  }

  /// Returns a product of an app.
  func find(_ productID: String, of app: String) throws(ActionError) -> SandboxProduct {
    guard let known = self.app(app) else { throw .unknownApp(app, known: apps.map(\.id)) }
    guard let product = product(productID, of: app) else {
      throw .unknownProduct(productID, known: known.products.map(\.productId))
    }
    return product
  }

  // MARK: One-time purchases

  /// Sells a product that is no subscription; a non-consumable that is owned and not refunded is returned as it is.
  private mutating func buyOnce(_ product: SandboxProduct, _ order: PurchaseOrder, _ account: String)
    -> Int64
  {
    let owned = purchases(of: account, in: order.app).last {
      $0.productID == product.productId && $0.ownership == .purchased
    }
    if let owned, product.type == .nonConsumable, owned.revocation == nil { return owned.id }
    // A product that is bought again after a refund is a new purchase: both ids differ only after a restore or a renewal
    // (Apple: original_transaction_id).
    let number = makeNumber()
    let date = order.purchaseDate ?? now
    let transaction = SoldTransaction(
      id: number, originalID: number, app: order.app, account: account,
      productID: product.productId, orderID: orderID(number), webOrderLineItemID: nil, purchaseDate: date,
      originalPurchaseDate: date, expiresDate: nil, quantity: order.quantity,
      appAccountToken: order.appAccountToken?.lowercased(), ownership: .purchased, reason: .purchase,
      price: price(of: product, in: order.app, for: account) * order.quantity,
      storefront: accounts[account]?.storefront ?? .usa, offer: nil)
    append(transaction)
    notify(.oneTimeCharge, about: transaction)
    share(transaction)
    return number
  }

  // MARK: Subscriptions

  /// Begins the first subscription of an account in the group.
  private mutating func subscribe(
    _ product: SandboxProduct, _ order: PurchaseOrder, _ account: String, _ offer: Offer?
  ) -> Int64 {
    let line = newLine(product, app: order.app, account: account, start: order.purchaseDate ?? now)
    ownLines[GroupOwnership(app: order.app, account: account, group: product.group)] = line.id
    return begin(line, product, order, offer, .initialBuy)
  }

  /// Resumes the subscription of a returning account under its original transaction id.
  private mutating func resubscribe(
    _ line: SubscriptionLine, _ product: SandboxProduct, _ order: PurchaseOrder, _ offer: Offer?
  ) -> Int64 {
    var line = line
    line.current = makeNumber()
    return begin(line, product, order, offer, .resubscribe)
  }

  /// Begins a period of full price or with an offer, and discards what belonged to the time before. A period that is
  /// over when it is recorded ends at once.
  private mutating func begin(
    _ line: SubscriptionLine, _ product: SandboxProduct, _ order: PurchaseOrder, _ offer: Offer?,
    _ subtype: NotificationSubtype
  ) -> Int64 {
    let start = order.purchaseDate ?? now
    var line = line
    line.appAccountToken = order.appAccountToken?.lowercased() ?? line.appAccountToken
    // Apple, recentSubscriptionStartDate: a gap of up to 60 days is ignored.
    let gap = start.milliseconds(since: line.expiresDate)
    if gap > scale(of: line.account).length(days: 60) || start < line.recentStart { line.recentStart = start }
    line.renewals = 0
    line.autoRenews = true
    line.priceIncrease = nil
    line.failureNoticeDate = nil
    line.pendingOffer = nil
    line.runningOffer = offer.map { ActiveOffer(offer: $0, left: $0.periods - 1) }
    line.isOrganization = order.isOrganization
    line.invitations = order.seats.map { _ in
      order.isOrganization ? .apple : invitationManagement(of: product.productId, in: order.app)
    }
    if line.invitations != .developer { line.claims = [] }
    let pricing = PeriodPricing(
      product: product, plan: order.billingPlan, start: start, quantity: order.seats ?? 1, reason: .purchase,
      price: price(of: product, order.billingPlan, in: order.app, for: line.account), offer: offer)
    line = beginPeriod(pricing, of: line)
    if line.expiresDate <= now {
      // The period was over when the purchase was recorded, so it was never renewed.
      line.status = .ended(.customerCancelled)
      line.autoRenews = false
      line.commitment = nil
      put(line)
    }
    notify(.subscribed, subtype, of: line)
    share(line)
    return line.current
  }
}
