internal import AppStore
internal import JSON

/// One filled order, and what Apple would say about it.
struct Sale {
  let app: SandboxApp
  let product: SandboxProduct
  /// Who bought.
  let account: String
  let transactionId: String
  let line: PurchaseLine
  /// Only for an auto-renewable subscription.
  let webOrderLineItemId: String?
  let appTransactionId: String
  let appAccountToken: String?
  let quantity: Int64
  let purchaseDate: Instant
  let signedDate: Instant

  var isSubscription: Bool { product.type == .autoRenewableSubscription }

  /// The end of the paid period; `nil` for what is no subscription.
  var expiresDate: Instant? {
    isSubscription ? product.period.map { purchaseDate.advanced(by: $0) } : nil
  }

  /// The payload of the signed transaction (App Store Server API, JWSTransactionDecodedPayload).
  var transaction: JSONObject {
    object([
      ("transactionId", .string(transactionId)),
      ("originalTransactionId", .string(line.originalTransactionId)),
      ("webOrderLineItemId", webOrderLineItemId.map(JSONValue.string)),
      ("bundleId", .string(app.identity.bundleID)),
      ("productId", .string(product.productId)),
      ("subscriptionGroupIdentifier", product.subscriptionGroupIdentifier.map(JSONValue.string)),
      ("purchaseDate", date(purchaseDate)),
      ("originalPurchaseDate", date(line.originalPurchaseDate)),
      ("expiresDate", expiresDate.map(date)),
      ("quantity", .number(JSONNumber(quantity))),
      ("type", .string(product.type.rawValue)),
      ("appAccountToken", appAccountToken.map(JSONValue.string)),
      ("inAppOwnershipType", .string(InAppOwnershipType.purchased.rawValue)),
      ("signedDate", date(signedDate)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("transactionReason", .string(TransactionReason.purchase.rawValue)),
      ("storefront", "USA"),
      ("storefrontId", "143441"),
      ("price", .number(JSONNumber(product.price))),
      ("currency", .string(product.currency)),
      ("appTransactionId", .string(appTransactionId)),
    ])
  }

  /// The payload of the signed renewal info, for a subscription. One whose period is over when it is
  /// signed, because it was bought in the past, counts as cancelled: nothing renews it here.
  var renewalInfo: JSONObject? {
    guard isSubscription, let expiresDate else { return nil }
    let isOver = expiresDate <= signedDate
    return object([
      ("expirationIntent", isOver ? .number(JSONNumber(ExpirationIntent.customerCancelled.rawValue)) : nil),
      ("originalTransactionId", .string(line.originalTransactionId)),
      ("autoRenewProductId", .string(product.productId)),
      ("productId", .string(product.productId)),
      ("autoRenewStatus", .number(JSONNumber((isOver ? AutoRenewStatus.off : .on).rawValue))),
      ("isInBillingRetryPeriod", false),
      ("renewalPrice", isOver ? nil : .number(JSONNumber(product.price))),
      ("currency", isOver ? nil : .string(product.currency)),
      ("signedDate", date(signedDate)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("recentSubscriptionStartDate", date(purchaseDate)),
      ("renewalDate", isOver ? nil : date(expiresDate)),
      ("appTransactionId", .string(appTransactionId)),
      ("appAccountToken", appAccountToken.map(JSONValue.string)),
    ])
  }

  func date(_ instant: Instant) -> JSONValue { .number(JSONNumber(instant.millisecondsSince1970)) }

  /// An object of those members that have a value.
  func object(_ members: [(String, JSONValue?)]) -> JSONObject {
    JSONObject(members.compactMap { name, value in value.map { (name, $0) } })
  }
}
