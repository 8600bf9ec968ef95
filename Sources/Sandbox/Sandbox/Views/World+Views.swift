internal import AppStore

// The state of the world for testers.
extension World {
  // MARK: Accounts

  /// The names of the accounts with the app, in order.
  func accountNames(in app: String) -> [String] {
    accounts.keys.filter { accounts[$0]?.appInstalls[app] != nil }.sorted()
  }

  /// An account with its purchases in an app; `nil` for an unknown account. An account without the app has no
  /// purchases.
  func view(ofAccount name: String, in app: String) -> AccountView? {
    guard let account = accounts[name] else { return nil }
    let bought = purchases(of: name, in: app)
    let relatives = account.family.map { family in
      accounts.keys.filter { $0 != name && accounts[$0]?.family == family }.sorted()
    }
    let requests = askToBuyRequests.keys.sorted().compactMap { id in
      askToBuyRequests[id].flatMap { pending in
        pending.order.account == name && pending.order.app == app
          ? RequestView(request: id, productId: pending.order.productId, date: pending.date) : nil
      }
    }
    let spans = nonRenewingSpans(bought, in: app)
    return AccountView(
      name: name, storefront: account.storefront.code, family: account.family, relatives: relatives ?? [],
      chargesFail: account.billingFails, rate: TimeScaleView(scale(of: name)),
      purchases: bought.filter(\.isFirst).map { view($0, span: spans[$0.id]) }, requests: requests,
      transactionCount: bought.count)
  }

  /// A purchase, given its first transaction and the time that a non-renewing subscription gives.
  private func view(_ first: SoldTransaction, span: Range<Instant>?) -> PurchaseView {
    guard let line = lines[first.id] else {
      let end = first.revocation == nil ? span?.upperBound : nil
      let state: PurchaseView.State =
        if first.revocation != nil { .refunded } else { end.map { $0 > now ? .active : .ended } ?? .owned }
      return PurchaseView(
        productId: first.productID, originalTransactionId: String(first.id), transactionId: String(first.id),
        state: state, until: end, renewal: nil, seats: nil,
        ownership: first.ownership)
    }
    return PurchaseView(
      productId: line.productID, originalTransactionId: String(line.id), transactionId: String(line.current),
      state: PurchaseView.State(line.status), until: line.status.end ?? line.expiresDate,
      renewal: line.isRunning ? renewal(of: line) : nil, seats: seatsView(of: line),
      ownership: line.ownership)
  }

  private func renewal(of line: SubscriptionLine) -> PurchaseView.Renewal {
    let charge = line.nextCharge
    let product = product(charge.productID, of: line.app)
    let storefront = accounts[line.account]?.storefront ?? .usa
    let currency = product.map(storefront.currency) ?? storefront.currency
    let isAsked = line.priceIncrease?.state == .pending
    return PurchaseView.Renewal(
      isOn: line.autoRenews, productId: charge.productID,
      price: MoneyView(milliunits: line.nextOffer?.price ?? charge.price, currency: currency),
      pendingPrice: isAsked
        ? line.priceIncrease.map { MoneyView(milliunits: $0.price, currency: currency) } : nil,
      payment: line.commitment?.number)
  }

  private func seatsView(of line: SubscriptionLine) -> PurchaseView.Seats? {
    guard line.invitations != nil, line.source == nil else { return nil }
    return PurchaseView.Seats(
      count: seats(of: line), accounts: assignedMembers(of: line).map(\.account),
      claims: line.claims.map(\.id))
  }

  func transactionViews(ofAccount name: String, in app: String) -> [TransactionView] {
    let bought = purchases(of: name, in: app)
    let spans = nonRenewingSpans(bought, in: app)
    return bought.map { sold in
      let product = product(sold.productID, of: app)
      return TransactionView(
        transactionId: String(sold.id), originalTransactionId: String(sold.originalID),
        productId: sold.productID, type: product?.type, date: sold.purchaseDate, expires: sold.expiresDate,
        span: spans[sold.id],
        price: MoneyView(
          milliunits: sold.price,
          currency: product.map(sold.storefront.currency) ?? sold.storefront.currency
        ),
        quantity: sold.quantity, reason: sold.reason, ownership: sold.ownership, offer: sold.offer?.id,
        isTrial: sold.isTrial, isUpgraded: sold.isUpgraded, revoked: sold.revocation?.date,
        revocationType: sold.revocation?.type)
    }
  }

  /// The times in which payments of an account had failed, from the states that its notifications contain.
  func failedPayments(ofAccount name: String, in app: String) -> [FailedPaymentView] {
    var views: [FailedPaymentView] = []
    /// The open span of each subscription.
    var open: [Int64: (hasAccess: Bool, since: Instant)] = [:]
    func close(_ id: Int64, at instant: Instant) {
      guard let span = open.removeValue(forKey: id), span.since < instant else { return }
      views.append(
        FailedPaymentView(
          originalTransactionId: String(id), hasAccess: span.hasAccess, since: span.since, until: instant))
    }
    func enter(_ line: SubscriptionLine, at instant: Instant) {
      let known = open[line.id]?.hasAccess
      switch line.status {
      case .grace where known != true:
        close(line.id, at: line.expiresDate)
        open[line.id] = (true, line.expiresDate)
      case .retry where known != false:
        // The grace period that it follows ended at the time of this notification.
        close(line.id, at: instant)
        open[line.id] = (false, known == nil ? line.expiresDate : instant)
      case .grace, .retry: break
      case .active, .ended, .revoked: close(line.id, at: instant)
      }
    }
    for notification in notifications where notification.app == app {
      guard case .purchase(let sold, let line?, _) = notification.subject, sold.account == name else {
        continue
      }
      enter(line, at: notification.date)
    }
    for line in subscriptions(of: name, in: app) {
      enter(line, at: now)
      close(line.id, at: now)
    }
    return views
  }

  // MARK: Time

  /// The next change of the world; `nil` if none is scheduled.
  var nextEventView: NextEventView? {
    guard let at = nextChange else { return nil }
    let line = lines.keys.compactMap { lines[$0] }.filter { $0.due == at && isScheduled($0) }
      .min { $0.id < $1.id }
    guard let line else {
      let isExtension = pendingMassExtensions.contains { massExtensions[$0].due == at }
      return NextEventView(
        at: at, kind: isExtension ? .massExtension : .externalToken, account: nil, productId: nil)
    }
    return NextEventView(
      at: at, kind: kind(ofChangeOf: line, at: at), account: line.account, productId: line.productID)
  }

  private func kind(ofChangeOf line: SubscriptionLine, at instant: Instant) -> NextEventView.Kind {
    if line.leavesAtEnd { return .endOfPeriod }
    if line.failureNoticeDate == instant { return .failureNotice }
    if line.priceNoticeDate == instant { return .priceNotice }
    switch line.status {
    case .grace: return .endOfGracePeriod
    case .retry: return .endOfBillingRetry
    case .active, .ended, .revoked: return line.autoRenews || line.owesPayments ? .renewal : .endOfPeriod
    }
  }

  // MARK: Developers

  func productViews(of app: SandboxApp) -> [ProductView] {
    let settings = settings[app.id] ?? AppSettings()
    return app.products.map { product in
      let changed = settings.prices.everywhere[product.productId]
      func money(_ milliunits: Int64) -> MoneyView {
        MoneyView(milliunits: milliunits, currency: product.currency)
      }
      return ProductView(
        product: product,
        price: changed == nil && product.price == nil
          ? nil : money(price(of: product, in: app.id, at: .usa)),
        monthlyPrice: product.monthlyPrice.map { _ in
          money(price(of: product, .monthly, in: app.id, at: .usa))
        },
        offers: (settings.offers[product.productId] ?? []).map { OfferView($0, currency: product.currency) },
        isShareable: settings.shareable.contains(product.productId),
        isWithdrawn: settings.withdrawn.contains(product.productId),
        isInvitedByDeveloper: settings.invitedByDeveloper.contains(product.productId))
    }
  }

  func settingsView(of app: String) -> SettingsView {
    let settings = settings[app] ?? AppSettings()
    return SettingsView(
      notificationURL: settings.notificationTarget?.url,
      notificationVersion: settings.notificationTarget?.version ?? 2,
      rules: settings.delivery.rules.rawValue, hasDelays: settings.delivery.delays != nil,
      graceDays: settings.gracePeriod.days, graceScope: settings.gracePeriod.scope.rawValue,
      hasSharedSecret: settings.sharedSecret != nil, realtimeURL: settings.messages.realtimeURL,
      rate: TimeScaleView(scale), chargeLead: timing.chargeLead, failureDelay: timing.failureDelay,
      staleFailures: timing.staleFailures)
  }
}

extension PurchaseView.State {
  fileprivate init(_ status: SubscriptionLine.Status) {
    switch status {
    case .active: self = .active
    case .grace: self = .grace
    case .retry: self = .retry
    case .ended: self = .ended
    case .revoked: self = .revoked
    }
  }
}

extension TimeScaleView {
  fileprivate init(_ scale: TimeScale) {
    switch scale {
    case .calendar: self = .calendar
    case .compressed(let month): self = .compressed(month: month)
    case .testFlight: self = .testFlight
    }
  }
}

extension OfferView {
  fileprivate init(_ offer: Offer, currency: String) {
    self.init(
      id: offer.id, type: Offer.types.first { $0.value == offer.type }?.key ?? String(offer.type.rawValue),
      mode: offer.mode, period: offer.period, periods: offer.periods,
      price: MoneyView(milliunits: offer.price, currency: currency))
  }
}
