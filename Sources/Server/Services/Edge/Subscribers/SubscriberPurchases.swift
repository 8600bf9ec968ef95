internal import AppStore
internal import Entitlements
internal import JSON

/// The purchases of a customer in the form of RevenueCat's REST API v1.
struct SubscriberPurchases {
  /// By product id, the latest period of the purchase that ends last.
  private(set) var subscriptions = JSONObject()
  /// The ends of ``subscriptions``.
  private var ends: [String: Instant] = [:]
  /// Purchases that do not renew and were not refunded, by product id.
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
    for line in facts.subscriptionLines { addSubscriptions(line, in: app, at: now) }
    addOthers(facts.purchases(in: app).transactions)
    for grant in facts.grants {
      let state = grant.current
      add(subscription(state), Self.productID(of: state), endingAt: state.end ?? .distantFuture)
    }
  }

  /// Adds a subscription under a name. Stores may have a product of the same name, and a product several purchases: the
  /// one that ends last counts.
  private mutating func add(_ subscription: JSONObject, _ productID: String, endingAt end: Instant) {
    if let other = ends[productID], other > end { return }
    ends[productID] = end
    subscriptions[productID] = .object(subscription)
  }

  /// Adds the products of one purchase, whose facts these are: those of another one would mix with it.
  private mutating func addSubscriptions(_ facts: CustomerFacts, in app: AppDefinition, at now: Instant) {
    for product in CustomerOverview(facts, in: app, at: now).products {
      guard let latest = product.latest, product.type == .autoRenewableSubscription else { continue }
      if product.state == .active { hasActiveSubscription = true }
      let access = Entitlements.evaluate(facts, product: product.productID, in: app, at: now)
      // A period that has not begun is left out; one that was revoked before it began never gave access.
      guard let end = access.end(at: now) ?? latest.revocationDate else { continue }
      let isOff = product.renewal?.renewalStatus == .off
      let turnedOff = isOff ? facts.renewalTurnedOff(ofLine: latest.originalTransactionID, by: now) : nil
      var members = subscription(latest, product.renewal, turnedOffAt: turnedOff)
      members["expires_date"] = SubscriberDocument.date(end)
      if access.isExtended(at: now) { members["grace_period_expires_date"] = members["expires_date"] }
      let isPaying = product.state == .active || product.renewal?.isInBillingRetry == true
      if isPaying, latest.refundedAt == nil, let commitment = commitment(latest) {
        members["commitment"] = commitment
      }
      add(members, product.productID, endingAt: end)
    }
  }

  /// Adds purchases that do not renew, each once: a restore on another device gives one further transaction ids. RevenueCat
  /// has no member for a refund of these.
  private mutating func addOthers(_ transactions: [TransactionFact]) {
    var purchases: [String: [JSONValue]] = [:]
    let kept = transactions.filter { $0.type != .autoRenewableSubscription && $0.refundedAt == nil }
    for transaction in kept.sorted(by: {
      ($0.purchaseDate, $0.transactionID) < ($1.purchaseDate, $1.transactionID)
    }) {
      purchases[transaction.productID, default: []].append(.object(purchase(transaction)))
      let date = SubscriberDocument.date(transaction.purchaseDate)
      otherPurchases[transaction.productID] = ["purchase_date": date]
    }
    for (productID, _) in otherPurchases { others[productID] = .array(purchases[productID] ?? []) }
  }

  /// The name of what a grant is about: the product, or the grant itself without one.
  static func productID(of grant: GrantFact) -> String {
    guard let external = grant.external, !external.productID.isEmpty else { return grant.grantID }
    return external.productID
  }

  /// A subscription as RevenueCat's API has it; what Apple does not state is null.
  private func subscription(
    _ latest: TransactionFact, _ renewal: RenewalFact?, turnedOffAt: Instant?
  ) -> JSONObject {
    // RevenueCat keeps the time of a failed payment that was never made up for.
    let isFailing = renewal.map { $0.isInBillingRetry || $0.expirationIntent == .billingError } ?? false
    return [
      "expires_date": SubscriberDocument.date(latest.expiresDate),
      "purchase_date": SubscriberDocument.date(latest.purchaseDate),
      "original_purchase_date": SubscriberDocument.date(latest.originalPurchaseDate ?? latest.purchaseDate),
      "ownership_type": latest.isShared ? "FAMILY_SHARED" : "PURCHASED",
      "period_type": Self.period(latest), "store": "app_store", "is_sandbox": .bool(isSandbox),
      "unsubscribe_detected_at": SubscriberDocument.date(turnedOffAt),
      "billing_issues_detected_at": isFailing ? SubscriberDocument.date(latest.expiresDate) : .null,
      "grace_period_expires_date": SubscriberDocument.date(renewal?.gracePeriodExpiresDate),
      "refunded_at": SubscriberDocument.date(latest.refundedAt), "auto_resume_date": .null,
      "store_transaction_id": .string(latest.transactionID), "price": price(latest), "display_name": .null,
      "management_url": .string(Advice.manageURL),
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
      remainingPrice = Self.amount(forecast, currency)
    }
    return [
      "billing_period_number": JSONValue(commitment.billingPeriodNumber),
      "total_billing_periods": JSONValue(commitment.totalBillingPeriods),
      "remaining_periods": JSONValue(commitment.remainingPeriods),
      "expires_date": SubscriberDocument.date(commitment.expiresDate), "remaining_price": remainingPrice,
    ]
  }

  /// A purchase in another store, or a grant of the operator.
  private func subscription(_ state: GrantFact) -> JSONObject {
    let source = state.external?.source ?? "promotional"
    let store = source == "play" ? "play_store" : source
    // Only a store refunds.
    let refund = state.external == nil ? nil : state.revokedAt
    let purchaseID = state.external.map {
      ExternalPurchase.purchaseID($0.externalID, of: state.entitlement)
    }
    return [
      "expires_date": SubscriberDocument.date(state.end),
      "purchase_date": SubscriberDocument.date(state.since),
      "original_purchase_date": SubscriberDocument.date(state.since), "ownership_type": "PURCHASED",
      "period_type": store == "promotional" ? "promotional" : "normal", "store": .string(store),
      "is_sandbox": .bool(isSandbox), "unsubscribe_detected_at": .null, "billing_issues_detected_at": .null,
      "grace_period_expires_date": .null, "refunded_at": SubscriberDocument.date(refund),
      "auto_resume_date": .null, "store_transaction_id": .string(purchaseID ?? state.grantID),
      "price": .null, "display_name": .null, "management_url": .null,
    ]
  }

  /// The price that the customer paid; family members and holders of a seat did not pay.
  private func price(_ transaction: TransactionFact) -> JSONValue {
    guard !transaction.isShared, let currency = transaction.details.currency,
      let price = transaction.totalPrice
    else { return .null }
    return Self.amount(price, currency)
  }

  /// An amount of money, from milliunits.
  private static func amount(_ milliunits: Int64, _ currency: String) -> JSONValue {
    let amount = JSONNumber(Double(milliunits) / 1_000).map(JSONValue.number) ?? .null
    return ["amount": amount, "currency": .string(currency)]
  }

  private func purchase(_ transaction: TransactionFact) -> JSONObject {
    [
      "id": .string(transaction.transactionID), "is_sandbox": .bool(isSandbox),
      "original_purchase_date": SubscriberDocument.date(
        transaction.originalPurchaseDate ?? transaction.purchaseDate),
      "purchase_date": SubscriberDocument.date(transaction.purchaseDate), "store": "app_store",
      "store_transaction_id": .string(transaction.transactionID), "price": price(transaction),
      "display_name": .null,
    ]
  }

  private static func period(_ latest: TransactionFact) -> JSONValue {
    if latest.offerDiscountType == .freeTrial { return "trial" }
    return latest.offerType == .introductory ? "intro" : "normal"
  }
}

extension CustomerFacts {
  /// The facts about each subscription, with those about the app installs, on which access depends too.
  fileprivate var subscriptionLines: [CustomerFacts] {
    let lines = Set(transactions.filter(\.isSubscription).map(\.originalTransactionID))
    return lines.sorted().map { line in
      let own = ofLine(line)
      return CustomerFacts(ordered: own.transactions, own.renewalHistories, [], appTransactions)
    }
  }
}
