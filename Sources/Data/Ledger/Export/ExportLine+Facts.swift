internal import AppStore
internal import Entitlements
internal import JSON
internal import Store

// The latest facts, with Apple's names (App Store Server API, JWSTransactionDecodedPayload and
// JWSRenewalInfoDecodedPayload). The documents contain all other members.
extension ExportLine {
  /// A purchase or one period of a subscription.
  init(_ fact: TransactionFact, in scope: Scope) {
    self.init("transaction", in: scope, Self.purchase(fact) + Self.details(fact.details))
  }

  /// The members that every transaction may have.
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

  /// The members that the rules do not need.
  private static func details(_ details: TransactionDetails) -> [(String, JSONValue?)] {
    [
      ("price", details.price.map { JSONValue($0) }),
      ("seatsPrice", details.seatsPrice.map { JSONValue($0) }),
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

  /// The latest renewal info of a subscription.
  init(_ fact: RenewalFact, in scope: Scope) { self.init("renewal", in: scope, Self.members(fact)) }

  /// One line for each content of a subscription's renewal infos, oldest first, with all its signatures.
  static func renewalInfos(_ history: RenewalHistory, in scope: Scope) -> [ExportLine] {
    history.contents.indices.compactMap { content in
      let indices = history.signatures.indices.filter { history.signatures[$0].content == content }
      guard let last = indices.last else { return nil }
      let signatures = indices.map { index in
        JSONValue.object([
          "signedDate": JSONValue(history.signatures[index].signedDate),
          "knownAt": .string(history.signatures[index].knownAt.description),
        ])
      }
      return ExportLine(
        "renewalInfo", in: scope, members(history.document(last)) + [("signatures", .array(signatures))])
    }
  }

  private static func members(_ fact: RenewalFact) -> [(String, JSONValue?)] {
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
    ]
  }

  /// An app install.
  init(_ fact: AppTransactionFact, in scope: Scope) {
    self.init(
      "appTransaction", in: scope,
      [
        ("appTransactionId", fact.appTransactionID.isEmpty ? nil : .string(fact.appTransactionID)),
        ("originalApplicationVersion", .string(fact.originalApplicationVersion)),
        ("originalPurchaseDate", fact.originalPurchaseDate.map { JSONValue($0) }),
        ("preorderDate", fact.preorderDate.map { JSONValue($0) }),
        ("originalPlatform", fact.originalPlatform.map { .string($0.rawValue) }),
        ("receiptExpiresDate", fact.receiptExpiresDate.map { JSONValue($0) }),
        ("revocationDate", fact.revocationDate.map { JSONValue($0) }),
        ("receiptCreationDate", JSONValue(fact.signedDate)),
      ])
  }

  /// A grant.
  init(_ fact: GrantFact, in scope: Scope) {
    self.init(
      "grant", in: scope,
      [
        ("grantId", .string(fact.grantID)),
        ("entitlement", .string(fact.entitlement)),
        ("accessLevel", JSONValue(Int64(fact.accessLevel.rawValue))),
        ("since", .string(fact.since.description)),
        ("until", fact.until.map { .string($0.description) }),
        ("revokedAt", fact.revokedAt.map { .string($0.description) }),
        ("source", fact.external.map { .string($0.source) }),
        ("externalId", fact.external.map { .string($0.externalID) }),
        ("productId", fact.external.map { .string($0.productID) }),
        ("revision", fact.external.map { JSONValue($0.revision) }),
        ("note", fact.note.isEmpty ? nil : .string(fact.note)),
        ("actor", fact.actor.isEmpty ? nil : .string(fact.actor)),
      ])
  }

  /// An event of a customer.
  init(_ stored: StoredEvent) {
    let event = stored.event
    let scope = Scope(
      app: event.customer.appID, environment: event.customer.environment,
      customerID: event.customer.customerID)
    self.init(
      "event", in: scope,
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
