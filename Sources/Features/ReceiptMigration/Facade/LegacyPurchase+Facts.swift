internal import AppReceipt
internal import AppStore
internal import Entitlements

extension LegacyPurchase {
  /// A purchase by what Apple signed about it. `isUpgraded`: whether a higher level took its place.
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

  /// A purchase of which nothing is known but what the receipt says; `nil` if that does not even name it.
  init?(_ entry: InAppPurchase) {
    guard let transactionID = entry.transactionID, let productID = entry.productID else { return nil }
    self.init(
      transactionID: transactionID, originalTransactionID: entry.originalTransactionID ?? transactionID,
      productID: productID, isSubscription: entry.expirationDate != nil)
    quantity = entry.quantity ?? 1
    purchaseDate = entry.purchaseDate
    originalPurchaseDate = entry.originalPurchaseDate
    expiresDate = entry.expirationDate
    // Of what is no subscription, receipts have a 0 there.
    webOrderLineItemID = entry.webOrderLineItemID.flatMap { $0 == 0 ? nil : String($0) }
    offer.isTrial = entry.isInTrialPeriod ?? false
    offer.isIntroductory = entry.isInIntroductoryOfferPeriod ?? false
    offer.promotionalOfferID = entry.promotionalOfferID
    cancellation = entry.cancellationDate.map { Cancellation(date: $0, reason: nil) }
  }
}

extension LegacyRenewal {
  /// A subscription by what Apple signed about its next renewal.
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
