internal import AppStore
internal import Entitlements
internal import JSON
internal import Store

// What is known of purchases: the newest that Apple signed, with Apple's names (App Store Server API,
// JWSTransactionDecodedPayload and JWSRenewalInfoDecodedPayload). The documents have the rest.
extension ExportLine {
  /// A purchase or one period of a subscription.
  init(_ fact: TransactionFact, at place: Place) {
    self.init("transaction", at: place, Self.purchase(fact) + Self.details(fact.details))
  }

  private static func purchase(_ fact: TransactionFact) -> [(String, JSONValue?)] {
    [
      ("transactionId", .string(fact.transactionID)),
      ("originalTransactionId", .string(fact.originalTransactionID)),
      ("productId", .string(fact.productID)),
      ("type", .string(fact.type.rawValue)),
      ("purchaseDate", JSONValue(fact.purchaseDate)),
      ("originalPurchaseDate", fact.originalPurchaseDate.map { JSONValue($0) }),
      ("expiresDate", fact.expiresDate.map { JSONValue($0) }),
      ("revocationDate", fact.revocationDate.map { JSONValue($0) }),
      ("revocationReason", fact.revocationReason.map { JSONValue($0.rawValue) }),
      ("revocationType", fact.revocationType.map { .string($0.rawValue) }),
      ("isUpgraded", fact.isUpgraded ? true : nil),
      ("inAppOwnershipType", .string(fact.ownership.rawValue)),
      ("offerType", fact.offerType.map { JSONValue($0.rawValue) }),
      ("offerDiscountType", fact.offerDiscountType.map { .string($0.rawValue) }),
      ("subscriptionGroupIdentifier", fact.subscriptionGroupID.map(JSONValue.string)),
      ("quantity", JSONValue(fact.quantity)),
      ("signedDate", JSONValue(fact.signedDate)),
    ]
  }

  private static func details(_ details: TransactionDetails) -> [(String, JSONValue?)] {
    [
      ("price", details.price.map { JSONValue($0) }),
      ("currency", details.currency.map(JSONValue.string)),
      ("offerIdentifier", details.offerIdentifier.map(JSONValue.string)),
      ("webOrderLineItemId", details.webOrderLineItemID.map(JSONValue.string)),
      ("appAccountToken", details.appAccountToken.map(JSONValue.string)),
      ("appTransactionId", details.appTransactionID.map(JSONValue.string)),
      ("storefront", details.storefront.map(JSONValue.string)),
      ("transactionReason", details.transactionReason.map { .string($0.rawValue) }),
      ("revocationPercentage", details.revocationPercentage.map { JSONValue($0) }),
      ("isFromReceipt", details.isFromReceipt ? true : nil),
    ]
  }

  /// What becomes of a subscription at the end of its period.
  init(_ fact: RenewalFact, at place: Place) {
    self.init(
      "renewal", at: place,
      [
        ("originalTransactionId", .string(fact.originalTransactionID)),
        ("productId", .string(fact.productID)),
        ("autoRenewProductId", fact.autoRenewProductID.map(JSONValue.string)),
        ("autoRenewStatus", fact.autoRenewStatus.map { JSONValue($0.rawValue) }),
        ("isInBillingRetryPeriod", .bool(fact.isInBillingRetry)),
        ("gracePeriodExpiresDate", fact.gracePeriodExpiresDate.map { JSONValue($0) }),
        ("expirationIntent", fact.expirationIntent.map { JSONValue($0.rawValue) }),
        ("priceIncreaseStatus", fact.priceIncreaseStatus.map { JSONValue($0.rawValue) }),
        ("renewalDate", fact.renewalDate.map { JSONValue($0) }),
        ("renewalPrice", fact.details.renewalPrice.map { JSONValue($0) }),
        ("currency", fact.details.currency.map(JSONValue.string)),
        ("offerType", fact.details.offerType.map { JSONValue($0.rawValue) }),
        ("offerIdentifier", fact.details.offerIdentifier.map(JSONValue.string)),
        ("signedDate", JSONValue(fact.signedDate)),
      ])
  }

  /// A copy of the app.
  init(_ fact: AppTransactionFact, at place: Place) {
    self.init(
      "appTransaction", at: place,
      [
        ("appTransactionId", fact.appTransactionID.isEmpty ? nil : .string(fact.appTransactionID)),
        ("originalApplicationVersion", .string(fact.originalApplicationVersion)),
        ("originalPurchaseDate", fact.originalPurchaseDate.map { JSONValue($0) }),
        ("preorderDate", fact.preorderDate.map { JSONValue($0) }),
        ("originalPlatform", fact.originalPlatform.map { .string($0.rawValue) }),
        ("receiptCreationDate", JSONValue(fact.signedDate)),
      ])
  }

  /// What the operator gave.
  init(_ fact: GrantFact, at place: Place) {
    self.init(
      "grant", at: place,
      [
        ("grantId", .string(fact.grantID)),
        ("entitlement", .string(fact.entitlement)),
        ("accessLevel", JSONValue(Int64(fact.accessLevel.rawValue))),
        ("since", .string(fact.since.description)),
        ("until", fact.until.map { .string($0.description) }),
        ("revokedAt", fact.revokedAt.map { .string($0.description) }),
        ("note", fact.note.isEmpty ? nil : .string(fact.note)),
        ("actor", fact.actor.isEmpty ? nil : .string(fact.actor)),
      ])
  }

  /// A change of what a customer has.
  init(_ stored: StoredEvent) {
    let event = stored.event
    let place = Place(
      app: event.customer.appID, environment: event.customer.environment,
      customerID: event.customer.customerID)
    self.init(
      "event", at: place,
      [
        ("sequence", JSONValue(stored.sequence)),
        ("entitlement", .string(event.change.entitlement)),
        ("type", .string(event.change.kind.rawValue)),
        ("effectiveAt", .string(event.change.effectiveAt.description)),
        ("recordedAt", .string(event.recordedAt.description)),
        ("evidenceId", event.evidenceID.map { JSONValue($0.rawValue) }),
        ("actor", event.actor.isEmpty ? nil : .string(event.actor)),
        ("reasonBefore", .string(event.change.before.reason.rawValue)),
        ("reasonAfter", .string(event.change.after.reason.rawValue)),
        ("entitledAfter", .bool(event.change.after.isEntitled)),
        ("untilAfter", event.change.after.until.map { .string($0.description) }),
      ])
  }
}
