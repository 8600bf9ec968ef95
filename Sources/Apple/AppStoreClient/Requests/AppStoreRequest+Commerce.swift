package import AppStore
package import JSON

// The Advanced Commerce API: the operator sets prices and descriptions of the products that Apple bills.
extension AppStoreRequest {
  /// - Throws: for a member of `body` of another type than in `shape`.
  private static func advancedCommerce(
    _ subject: String, _ action: String, _ transactionID: String, _ body: JSONObject, _ shape: PayloadShape,
    endpoint: Endpoint = .advancedCommerce
  ) throws(PayloadError) -> AppStoreRequest {
    try shape.check(body)
    return AppStoreRequest(
      endpoint, .post, "advancedCommerce", "v1", subject, action, transactionID, body: .json(body))
  }

  /// Cancel a Subscription: turns its renewal off.
  package static func cancel(
    _ body: JSONObject, of transactionID: String
  ) throws(PayloadError) -> AppStoreRequest {
    try advancedCommerce(
      "subscription", "cancel", transactionID, body, .cancelSubscription, endpoint: .advancedCommerceRefund)
  }

  /// Revoke Subscription: ends it at once, with a refund.
  package static func revoke(
    _ body: JSONObject, of transactionID: String
  ) throws(PayloadError) -> AppStoreRequest {
    try advancedCommerce(
      "subscription", "revoke", transactionID, body, .revokeSubscription, endpoint: .advancedCommerceRefund)
  }

  /// Migrate a Subscription to Advanced Commerce.
  package static func migrate(
    _ body: JSONObject, of transactionID: String
  ) throws(PayloadError) -> AppStoreRequest {
    try advancedCommerce("subscription", "migrate", transactionID, body, .migrateSubscription)
  }

  /// Change Subscription Price.
  package static func changePrice(
    _ body: JSONObject, of transactionID: String
  ) throws(PayloadError) -> AppStoreRequest {
    try advancedCommerce("subscription", "changePrice", transactionID, body, .changeSubscriptionPrice)
  }

  /// Change Subscription Metadata.
  package static func changeMetadata(
    _ body: JSONObject, of transactionID: String
  ) throws(PayloadError) -> AppStoreRequest {
    try advancedCommerce("subscription", "changeMetadata", transactionID, body, .changeSubscriptionMetadata)
  }

  /// Request Transaction Refund.
  package static func requestRefund(
    _ body: JSONObject, of transactionID: String
  ) throws(PayloadError) -> AppStoreRequest {
    try advancedCommerce(
      "transaction", "requestRefund", transactionID, body, .requestTransactionRefund,
      endpoint: .advancedCommerceRefund)
  }
}

// The External Purchase Server API: reports sales outside of the App Store to Apple.
extension AppStoreRequest {
  /// Send External Purchase Report.
  ///
  /// - `report`: Apple's ExternalPurchaseReport; its `requestIdentifier` is the idempotency key.
  package static func sendExternalPurchaseReport(_ report: JSONObject) -> AppStoreRequest {
    AppStoreRequest(.externalPurchase, .put, "externalPurchase", "v1", "reports", body: .json(report))
  }

  /// Retrieve External Purchase Report.
  package static func externalPurchaseReport(requestIdentifier: String) -> AppStoreRequest {
    AppStoreRequest(.externalPurchase, .get, "externalPurchase", "v1", "reports", requestIdentifier)
  }
}
