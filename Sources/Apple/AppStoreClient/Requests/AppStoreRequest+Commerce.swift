package import AppStore
package import JSON

// The Advanced Commerce API: the operator sets prices and descriptions of the products that Apple bills.
extension AppStoreRequest {
  private static func advancedCommerce(
    _ subject: String, _ action: String, _ transactionID: String, _ body: some DecodedPayload,
    endpoint: Endpoint = .advancedCommerce
  ) -> AppStoreRequest {
    AppStoreRequest(
      endpoint, .post, "advancedCommerce", "v1", subject, action, transactionID,
      body: .json(body.json))
  }

  /// Cancel a Subscription: turns its renewal off.
  package static func cancel(
    _ request: AdvancedCommerceSubscriptionCancelRequest, of transactionID: String
  ) -> AppStoreRequest {
    advancedCommerce("subscription", "cancel", transactionID, request, endpoint: .advancedCommerceRefund)
  }

  /// Revoke Subscription: ends it at once, with a refund.
  package static func revoke(
    _ request: AdvancedCommerceSubscriptionRevokeRequest, of transactionID: String
  ) -> AppStoreRequest {
    advancedCommerce("subscription", "revoke", transactionID, request, endpoint: .advancedCommerceRefund)
  }

  /// Migrate a Subscription to Advanced Commerce.
  package static func migrate(
    _ request: AdvancedCommerceSubscriptionMigrateRequest, of transactionID: String
  ) -> AppStoreRequest { advancedCommerce("subscription", "migrate", transactionID, request) }

  /// Change Subscription Price.
  package static func changePrice(
    _ request: AdvancedCommerceSubscriptionPriceChangeRequest, of transactionID: String
  ) -> AppStoreRequest { advancedCommerce("subscription", "changePrice", transactionID, request) }

  /// Change Subscription Metadata.
  package static func changeMetadata(
    _ request: AdvancedCommerceSubscriptionChangeMetadataRequest, of transactionID: String
  ) -> AppStoreRequest { advancedCommerce("subscription", "changeMetadata", transactionID, request) }

  /// Request Transaction Refund.
  package static func requestRefund(
    _ request: AdvancedCommerceRequestRefundRequest, of transactionID: String
  ) -> AppStoreRequest {
    advancedCommerce(
      "transaction", "requestRefund", transactionID, request, endpoint: .advancedCommerceRefund)
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
