package import AppStore

/// The facts about a subscriber and the request on which rules about retention messages depend.
package struct RetentionSubscriber: Hashable, Sendable {
  /// Identifies the subscription; the choices of a rule are divided by it.
  package let originalTransactionID: String
  /// The product that the request names.
  package let productID: String
  /// The language and region that the request names, such as `en-US`.
  package let locale: String
  package let state: PurchaseState
  /// When the subscription was bought.
  package let boughtAt: Instant
  /// When the latest offer began, or was last announced for the next period; `nil` without one.
  package let lastOfferAt: Instant?
  /// Whether the purchase has no owner.
  package let isUnclaimed: Bool
  /// Whether Apple has not decided about a refund of the customer's.
  package let hasOpenRefund: Bool

  /// Evaluates the facts of the subscription at `now`.
  ///
  /// - Returns: `nil` if nothing is stored about it.
  package init?(
    _ facts: CustomerFacts, productID: String, locale: String, isUnclaimed: Bool, hasOpenRefund: Bool,
    in app: AppDefinition, at now: Instant
  ) {
    guard let first = facts.transactions.first, let state = PurchaseState(facts, in: app, at: now) else {
      return nil
    }
    originalTransactionID = first.originalTransactionID
    self.productID = productID
    self.locale = locale
    self.state = state
    boughtAt = facts.transactions.compactMap(\.originalPurchaseDate).min() ?? first.purchaseDate
    // An offer that the subscriber took is in the renewal info only, until its first period begins.
    let announced = facts.renewals.filter { $0.details.offerType.isForRetention }.map(\.signedDate)
    lastOfferAt =
      (facts.transactions.filter { $0.offerType.isForRetention }.map(\.purchaseDate) + announced).max()
    self.isUnclaimed = isUnclaimed
    self.hasOpenRefund = hasOpenRefund
  }
}

extension OfferType? {
  /// Whether it is an offer for existing subscribers.
  fileprivate var isForRetention: Bool {
    switch self {
    case .promotional, .retention: true
    case nil, .introductory, .offerCode, .winBack, .unrecognized: false
    }
  }
}

extension RetentionConditions {
  /// Whether a subscriber meets all conditions at `now`.
  package func matches(_ subscriber: RetentionSubscriber, in app: AppDefinition, at now: Instant) -> Bool {
    func selects<Value: Hashable>(_ values: Set<Value>, _ value: Value) -> Bool {
      values.isEmpty || values.contains(value)
    }
    let day = Instant.millisecondsPerDay
    let tenure = now.milliseconds(since: subscriber.boughtAt)
    let group = app.products[subscriber.productID]?.subscriptionGroup ?? ""
    return selects(productIDs, subscriber.productID) && selects(subscriptionGroups, group)
      && selects(storefronts, subscriber.state.storefront) && selects(modes, subscriber.state.mode)
      && matches(locale: subscriber.locale) && (minTenureDays.map { tenure >= $0 * day } ?? true)
      && (maxTenureDays.map { tenure < $0 * day } ?? true)
      && (minPaidDays.map { subscriber.state.paidService.milliseconds(at: now) >= $0 * day } ?? true)
      && isInSegment(subscriber, app, at: now)
  }

  private func matches(locale: String) -> Bool {
    guard !locales.isEmpty else { return true }
    let wanted = locale.lowercased()
    return locales.contains { wanted == $0.lowercased() || wanted.hasPrefix("\($0.lowercased())-") }
  }

  /// Whether the subscriber is in one of the named segments of the app; without names every subscriber is.
  /// A name that the app does not have matches none.
  private func isInSegment(
    _ subscriber: RetentionSubscriber, _ app: AppDefinition, at now: Instant
  ) -> Bool {
    segments.isEmpty
      || segments.contains { name in
        app.segments[name].map { filter in
          SegmentConditions(filter, in: app)
            .matches(subscriber.state, isUnclaimed: subscriber.isUnclaimed, at: now)
        } ?? false
      }
  }
}
