package import AppStore

extension TransactionFact {
  /// What a signed transaction says. The caller has verified it.
  ///
  /// - Throws: ``FactError/missing(field:)`` for a field that Apple always sends. An auto-renewable
  ///   subscription without `expiresDate` is refused too: it would say nothing about access.
  package init(_ payload: JWSTransactionDecodedPayload) throws(FactError) {
    let type = try required(payload.type, "type")
    if type == .autoRenewableSubscription { _ = try required(payload.expiresDate, "expiresDate") }
    self.init(
      transactionID: try required(payload.transactionId, "transactionId"),
      originalTransactionID: try required(payload.originalTransactionId, "originalTransactionId"),
      productID: try required(payload.productId, "productId"),
      type: type,
      purchaseDate: try required(payload.purchaseDate, "purchaseDate"),
      originalPurchaseDate: payload.originalPurchaseDate,
      expiresDate: payload.expiresDate,
      revocationDate: payload.revocationDate,
      revocationReason: payload.revocationReason,
      revocationType: payload.revocationType,
      isUpgraded: payload.isUpgraded ?? false,
      ownership: payload.inAppOwnershipType ?? .purchased,
      offerType: payload.offerType,
      offerDiscountType: payload.offerDiscountType,
      subscriptionGroupID: payload.subscriptionGroupIdentifier,
      quantity: max(1, payload.quantity ?? 1),
      signedDate: try required(payload.signedDate, "signedDate"))
  }
}

extension RenewalFact {
  /// What a signed renewal info says. The caller has verified it.
  ///
  /// - Throws: ``FactError/missing(field:)`` for a field that Apple always sends.
  package init(_ payload: JWSRenewalInfoDecodedPayload) throws(FactError) {
    self.init(
      originalTransactionID: try required(payload.originalTransactionId, "originalTransactionId"),
      productID: try required(payload.productId, "productId"),
      autoRenewProductID: payload.autoRenewProductId,
      autoRenewStatus: payload.autoRenewStatus,
      isInBillingRetry: payload.isInBillingRetryPeriod ?? false,
      gracePeriodExpiresDate: payload.gracePeriodExpiresDate,
      expirationIntent: payload.expirationIntent,
      priceIncreaseStatus: payload.priceIncreaseStatus,
      renewalDate: payload.renewalDate,
      signedDate: try required(payload.signedDate, "signedDate"))
  }
}

private func required<Value>(_ value: Value?, _ field: String) throws(FactError) -> Value {
  guard let value else { throw .missing(field: field) }
  return value
}
