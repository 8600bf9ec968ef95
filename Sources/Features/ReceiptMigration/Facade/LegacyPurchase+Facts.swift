internal import AppReceipt
internal import AppStore
internal import Entitlements

extension LegacyPurchase {
  /// A purchase from its signed transaction. `isUpgraded`: whether an upgrade replaced the period, which a transaction
  /// signed before the upgrade does not state.
  init(_ fact: TransactionFact, isUpgraded: Bool) {
    self.init(
      transactionID: fact.transactionID, originalTransactionID: fact.originalTransactionID,
      productID: fact.productID, isSubscription: fact.type == .autoRenewableSubscription)
    quantity = fact.quantity
    purchaseDate = fact.purchaseDate
    originalPurchaseDate = fact.originalPurchaseDate
    expiresDate = fact.expiresDate
    webOrderLineItemID = fact.details.webOrderLineItemID
    offer = LegacyOffer(
      fact.offerType, paid: fact.offerDiscountType, identifier: fact.details.offerIdentifier)
    cancellation = fact.revocationDate.map { Cancellation(date: $0, reason: fact.revocationReason) }
    ownership = fact.ownership
    appAccountToken = fact.details.appAccountToken
    subscriptionGroupID = fact.subscriptionGroupID
    self.isUpgraded = isUpgraded
  }

  /// A purchase from a receipt's entry; `nil` if that has no transaction id or product id.
  init?(_ entry: InAppPurchase) {
    guard let transactionID = entry.transactionID, let productID = entry.productID else { return nil }
    self.init(
      transactionID: transactionID, originalTransactionID: entry.originalTransactionID ?? transactionID,
      productID: productID, isSubscription: entry.expirationDate != nil)
    quantity = entry.quantity ?? 1
    purchaseDate = entry.purchaseDate
    originalPurchaseDate = entry.originalPurchaseDate
    expiresDate = entry.expirationDate
    // Receipts have 0 for purchases that are no subscriptions.
    webOrderLineItemID = entry.webOrderLineItemID.flatMap { $0 == 0 ? nil : String($0) }
    offer.isTrial = entry.isInTrialPeriod ?? false
    offer.isIntroductory = entry.isInIntroductoryOfferPeriod ?? false
    offer.promotionalOfferID = entry.promotionalOfferID
    cancellation = entry.cancellationDate.map { Cancellation(date: $0, reason: nil) }
  }
}

extension LegacyRenewal {
  /// A subscription from its signed renewal info.
  init(_ fact: RenewalFact) {
    self.init(originalTransactionID: fact.originalTransactionID, productID: fact.productID)
    autoRenewProductID = fact.autoRenewProductID
    autoRenews = fact.autoRenewStatus.map { $0 == .on }
    expirationIntent = fact.expirationIntent
    isInBillingRetry = fact.isInBillingRetry
    gracePeriodExpiresDate = fact.gracePeriodExpiresDate
    priceIncreaseStatus = fact.priceIncreaseStatus
    offer = LegacyOffer(
      fact.details.offerType, paid: fact.details.offerDiscountType, identifier: fact.details.offerIdentifier)
  }
}
