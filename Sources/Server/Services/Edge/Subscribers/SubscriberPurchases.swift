internal import AppStore
internal import Entitlements
internal import JSON

/// The purchases of a customer in the form of RevenueCat's REST API v1.
struct SubscriberPurchases {
  /// By product id, the latest period of each.
  private(set) var subscriptions = JSONObject()
  /// Purchases that do not renew, by product id.
  private(set) var others = JSONObject()
  /// The latest purchase of each product of ``others``, in the older form.
  private(set) var otherPurchases = JSONObject()
  /// The times of all purchases and grants.
  let times: [Instant]
  /// Whether a subscription of the App Store is active.
  private(set) var hasActiveSubscription = false
  private let isSandbox: Bool

  init(_ facts: CustomerFacts, in app: AppDefinition, isSandbox: Bool, at now: Instant) {
    self.isSandbox = isSandbox
    times = facts.transactions.map(\.purchaseDate) + facts.grants.map(\.since)
    var ends: [String: Instant] = [:]
    for product in CustomerOverview(facts, in: app, at: now).products {
      guard let latest = product.latest, product.type == .autoRenewableSubscription else { continue }
      if product.state == .active { hasActiveSubscription = true }
      var members = subscription(latest, product.renewal)
      let isPaying = product.state == .active || product.renewal?.isInBillingRetry == true
      if isPaying, latest.refundedAt == nil, let commitment = commitment(latest) {
        members["commitment"] = commitment
      }
      subscriptions[product.productID] = .object(members)
      ends[product.productID] = latest.refundedAt ?? latest.expiresDate
    }
    var purchases: [String: [JSONValue]] = [:]
    for transaction in facts.transactions where app.type(of: transaction) != .autoRenewableSubscription {
      purchases[transaction.productID, default: []].append(.object(purchase(transaction)))
      let date = SubscriberDocument.date(transaction.purchaseDate)
      otherPurchases[transaction.productID] = ["purchase_date": date]
    }
    for (productID, _) in otherPurchases { others[productID] = .array(purchases[productID] ?? []) }
    for grant in facts.grants {
      guard let external = grant.external, !external.productID.isEmpty else { continue }
      let state = grant.current
      let end = state.revokedAt ?? state.until ?? Instant(millisecondsSince1970: .max)
      // Stores may have a product of the same name, and a product several purchases: the one that ends last counts.
      if let other = ends[external.productID], other > end { continue }
      ends[external.productID] = end
      subscriptions[external.productID] = .object(subscription(state, external))
    }
  }

  private func subscription(_ latest: TransactionFact, _ renewal: RenewalFact?) -> JSONObject {
    let isOff = renewal?.renewalStatus == .off
    let isFailing = renewal?.isInBillingRetry ?? false
    return [
      "expires_date": SubscriberDocument.date(latest.expiresDate),
      "purchase_date": SubscriberDocument.date(latest.purchaseDate),
      "original_purchase_date": SubscriberDocument.date(latest.originalPurchaseDate ?? latest.purchaseDate),
      "ownership_type": latest.isShared ? "FAMILY_SHARED" : "PURCHASED",
      "period_type": Self.period(latest), "store": "app_store", "is_sandbox": .bool(isSandbox),
      "unsubscribe_detected_at": isOff ? SubscriberDocument.date(renewal?.signedDate) : .null,
      "billing_issues_detected_at": isFailing ? SubscriberDocument.date(latest.expiresDate) : .null,
      "grace_period_expires_date": SubscriberDocument.date(renewal?.gracePeriodExpiresDate),
      "refunded_at": SubscriberDocument.date(latest.refundedAt), "auto_resume_date": .null,
      "store_transaction_id": .string(latest.transactionID),
    ]
  }

  /// The commitment to monthly payments that the period is part of, which RevenueCat does not have.
  private func commitment(_ latest: TransactionFact) -> JSONValue? {
    guard let commitment = latest.details.commitment else { return nil }
    var remainingPrice = JSONValue.null
    // Family members do not pay.
    if !latest.isShared, let currency = latest.details.currency,
      let forecast = commitment.remainingPrice(at: latest.details.price)
    {
      remainingPrice = [
        "amount": JSONNumber(Double(forecast) / 1_000).map(JSONValue.number) ?? .null,
        "currency": .string(currency),
      ]
    }
    return [
      "billing_period_number": JSONValue(commitment.billingPeriodNumber),
      "total_billing_periods": JSONValue(commitment.totalBillingPeriods),
      "remaining_periods": JSONValue(commitment.remainingPeriods),
      "expires_date": SubscriberDocument.date(commitment.expiresDate), "remaining_price": remainingPrice,
    ]
  }

  /// A purchase in another store.
  private func subscription(_ state: GrantFact, _ external: ExternalPurchase) -> JSONObject {
    let store = external.source == "play" ? "play_store" : external.source
    return [
      "expires_date": SubscriberDocument.date(state.until),
      "purchase_date": SubscriberDocument.date(state.since),
      "original_purchase_date": SubscriberDocument.date(state.since), "ownership_type": "PURCHASED",
      "period_type": store == "promotional" ? "promotional" : "normal", "store": .string(store),
      "is_sandbox": .bool(isSandbox), "unsubscribe_detected_at": .null, "billing_issues_detected_at": .null,
      "grace_period_expires_date": .null, "refunded_at": SubscriberDocument.date(state.revokedAt),
      "auto_resume_date": .null, "store_transaction_id": .string(external.externalID),
    ]
  }

  private func purchase(_ transaction: TransactionFact) -> JSONObject {
    [
      "id": .string(transaction.transactionID), "is_sandbox": .bool(isSandbox),
      "original_purchase_date": SubscriberDocument.date(
        transaction.originalPurchaseDate ?? transaction.purchaseDate),
      "purchase_date": SubscriberDocument.date(transaction.purchaseDate), "store": "app_store",
      "store_transaction_id": .string(transaction.transactionID),
    ]
  }

  private static func period(_ latest: TransactionFact) -> JSONValue {
    if latest.offerDiscountType == .freeTrial { return "trial" }
    return latest.offerType == .introductory ? "intro" : "normal"
  }
}
