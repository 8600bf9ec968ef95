internal import AppStore
internal import Entitlements
internal import JSON
internal import Store

/// A customer in the form of RevenueCat's REST API v1 ("Customer Info Model").
struct SubscriberDocument {
  private let customer: CustomerKey
  private let facts: CustomerFacts
  private let attributes: [Store.CustomerAttribute]
  private let app: AppDefinition
  private let now: Instant

  init(
    _ customer: CustomerKey, _ facts: CustomerFacts, attributes: [Store.CustomerAttribute],
    in app: AppDefinition, at now: Instant
  ) {
    self.customer = customer
    self.facts = facts
    self.attributes = attributes
    self.app = app
    self.now = now
  }

  /// The body of the response. What RevenueCat documents and Apple does not state is null.
  var json: JSONObject {
    [
      "request_date": Self.date(now), "request_date_ms": JSONValue(now.millisecondsSince1970),
      "subscriber": .object(subscriber),
    ]
  }

  private var subscriber: JSONObject {
    let purchases = SubscriberPurchases(
      facts, in: app, isSandbox: customer.environment != .production, at: now)
    let install = facts.appTransactions.min {
      ($0.originalPurchaseDate ?? now) < ($1.originalPurchaseDate ?? now)
    }
    return [
      "original_app_user_id": .string(customer.customerID),
      "original_application_version": install.map { .string($0.originalApplicationVersion) } ?? .null,
      "original_purchase_date": Self.date(install?.originalPurchaseDate),
      "first_seen": Self.date(purchases.times.min() ?? now),
      "last_seen": Self.date(purchases.times.max() ?? now),
      "management_url": purchases.hasActiveSubscription ? .string(Advice.manageURL) : .null,
      "entitlements": .object(entitlements), "subscriptions": .object(purchases.subscriptions),
      "non_subscriptions": .object(purchases.others),
      "other_purchases": .object(purchases.otherPurchases),
      "subscriber_attributes": .object(subscriberAttributes),
    ]
  }

  /// The entitlements that the customer has or had.
  private var entitlements: JSONObject {
    JSONObject(
      app.entitlements.compactMap { name in
        let status = Entitlements.evaluate(facts, entitlement: name, in: app, at: now)
        guard status.isEntitled || status.until != nil else { return nil }
        return (name, .object(entitlement(status)))
      })
  }

  /// One entitlement. An ended one is included with its end, as RevenueCat does, and has no access then.
  private func entitlement(_ status: EntitlementStatus) -> JSONObject {
    let purchase = facts.transactions.first { $0.transactionID == status.deciding?.transactionID }
    let grant = facts.grants.first { $0.grantID == status.grantID }
    // The key of the purchase among the subscriptions or the purchases that do not renew.
    let product = status.deciding?.productID ?? grant.map { SubscriberPurchases.productID(of: $0.current) }
    return [
      "expires_date": Self.date(status.end(at: now)),
      "grace_period_expires_date": status.isExtended(at: now) ? Self.date(status.until) : .null,
      "product_identifier": .string(product ?? status.grantID ?? ""),
      "purchase_date": Self.date(purchase?.purchaseDate ?? grant?.current.since ?? status.since),
    ]
  }

  /// Names with the prefix of imported reserved attributes get RevenueCat's `$` again.
  private var subscriberAttributes: JSONObject {
    JSONObject(
      attributes.map { attribute in
        let name = attribute.name.hasPrefix("rc:") ? "$" + attribute.name.dropFirst(3) : attribute.name
        return (name, ["value": .string(attribute.value)])
      })
  }

  /// A time without milliseconds, as RevenueCat writes it.
  static func date(_ instant: Instant?) -> JSONValue {
    guard let instant else { return .null }
    return .string(instant.description.prefix(19) + "Z")
  }
}

// RevenueCat's clients, and most backends, compare `expires_date` alone with the time of the request, so it has the end of
// the access that the customer has now.
extension EntitlementStatus {
  /// Whether a grace period or the slack for a late renewal gives access after the end of the paid time.
  func isExtended(at now: Instant) -> Bool { isEntitled && paidUntil.map { $0 <= now } ?? false }

  /// The end of the access: of the paid time, and after it of the extension.
  func end(at now: Instant) -> Instant? { isExtended(at: now) ? until : endWithoutDelay ?? until }
}
