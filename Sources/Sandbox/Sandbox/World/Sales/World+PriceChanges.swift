internal import AppStore

/// Price changes by the developer.
extension World {
  /// A change of a product's price by the developer.
  struct PriceChange {
    /// In thousandths of the currency.
    let price: Int64
    /// The billing plan whose price changes.
    let plan: BillingPlan
    /// The only storefront with the new price; `nil` changes it everywhere.
    let storefront: String?
    /// Whether an increase needs consent; `nil` for Apple's rule.
    let needsConsent: Bool?
    /// The time between the announcement of an increase and the renewal, in milliseconds; `nil` for Apple's notice
    /// periods.
    let notice: Int64?
  }

  /// Changes the price of a product's billing plan. New customers pay it at once, subscribers at the first renewal that
  /// is far enough away for the announcement of an increase; in a commitment this is the renewal after the last payment
  /// (Apple: "Managing the life cycle of monthly subscriptions with a 12-month commitment", price changes).
  ///
  /// An increase that needs consent ends the subscription at the period's end unless the subscriber agrees. An increase
  /// that needs none counts as accepted when it is announced. A decrease is not announced (Apple: "Managing Price
  /// Increases for Auto-Renewable Subscriptions").
  mutating func setPrice(_ change: PriceChange, of product: SandboxProduct, in app: String) {
    let list: WritableKeyPath<AppSettings, PriceList> =
      change.plan == .monthly ? \.monthlyPrices : \.prices
    if let storefront = change.storefront {
      settings[app, default: AppSettings()][keyPath: list]
        .byStorefront[storefront, default: [:]][product.productId] = change.price
    } else {
      settings[app, default: AppSettings()][keyPath: list].everywhere[product.productId] = change.price
    }
    for id in lines.keys.sorted() {
      guard let line = lines[id], line.app == app, line.isRunning, line.source == nil,
        line.renewalProductID == product.productId, line.renewalPlan == change.plan
      else { continue }
      applyPrice(change, of: product, to: line)
    }
  }

  /// Applies a change to one subscriber: a decrease at once to the next renewal, an increase after its announcement.
  private mutating func applyPrice(
    _ change: PriceChange, of product: SandboxProduct, to line: SubscriptionLine
  ) {
    var line = line
    let price = self.price(of: product, change.plan, in: line.app, for: line.account)
    guard price != line.priceIncrease?.price ?? line.renewalPrice else { return }
    guard price > line.renewalPrice else {
      line.renewalPrice = price
      line.priceIncrease = nil
      return put(line)
    }
    let needsConsent = change.needsConsent ?? self.needsConsent(to: price, for: product, of: line)
    let notice = change.notice ?? scale(of: line.account).length(days: Self.noticeDays(product))
    line.priceIncrease = SubscriptionLine.PriceIncrease(
      price: price, needsConsent: needsConsent, notice: notice)
    schedulePriceNotice(of: &line, from: now)
    put(line)
    if let date = line.priceNoticeDate, date <= now { _ = announcePriceIncrease(of: line) }
  }

  /// Sets the time at which the scheduled increase is announced: the notice period before the next renewal, or `start`
  /// without one. A renewal that is nearer at `start`, the earliest time of the announcement, keeps the old price unless
  /// a whole period is shorter than the notice.
  func schedulePriceNotice(of line: inout SubscriptionLine, from start: Instant) {
    guard let notice = line.priceIncrease?.notice else { return }
    let renewal = line.commitment?.expiresDate ?? line.expiresDate
    let date = renewal.advanced(byMilliseconds: -notice)
    let isWholePeriod = current(of: line).map { start <= $0.purchaseDate } ?? true
    line.priceIncrease?.noticeDate =
      if notice == 0 || date < start && isWholePeriod { start } else { date < start ? nil : date }
  }

  /// Informs the subscriber of a scheduled price increase.
  ///
  /// - Returns: the updated subscription.
  mutating func announcePriceIncrease(of line: SubscriptionLine) -> SubscriptionLine {
    guard let increase = line.priceIncrease else { return line }
    var line = line
    line.priceIncrease?.state = increase.needsConsent ? .pending : .accepted
    put(line)
    notify(.priceIncrease, increase.needsConsent ? .pending : .accepted, of: line)
    return line
  }

  /// Whether Apple asks the subscriber for consent: if the increase is more than 50 percent and more than 5 dollars (50
  /// dollars for a year), or the second one within a year (support.apple.com/109501; Advanced Commerce API: "Handling
  /// subscription price changes").
  private func needsConsent(to price: Int64, for product: SandboxProduct, of line: SubscriptionLine) -> Bool {
    if let last = line.increaseDate, last > now.advanced(byDays: -365) { return true }
    let storefront = accounts[line.account]?.storefront ?? .usa
    let perDollar = Storefront.perDollar(storefront.currency(of: product))
    let dollars: Int64 = product.isYearly ? 50 : 5
    let payments = line.renewalPlan == .monthly ? Int64(Commitment.payments) : 1
    let difference = (price - line.renewalPrice) * payments
    return 2 * price > 3 * line.renewalPrice && difference > dollars * perDollar
  }

  /// The days between the announcement of an increase and the renewal (WWDC19, session 302: 7, 10 or 30 days). Apple
  /// publishes no present lengths; the Advanced Commerce API has 7, 27 and 60.
  private static func noticeDays(_ product: SandboxProduct) -> Int64 {
    if product.isWeekly { return 7 }
    return product.isYearly ? 30 : 10
  }
}
