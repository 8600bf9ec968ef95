internal import AppStore
internal import Entitlements
internal import Wire

// Facts as messages of the contract, under Apple's names.

extension Wire.Transaction {
  init(_ fact: TransactionFact, of app: AppDefinition, environment: AppStore.Environment) {
    self.init()
    transactionId = fact.transactionID
    originalTransactionId = fact.originalTransactionID
    webOrderLineItemId = fact.details.webOrderLineItemID ?? ""
    bundleId = app.identity.bundleID
    productId = fact.productID
    subscriptionGroupIdentifier = fact.subscriptionGroupID ?? ""
    type = Wire.ProductType(fact.type)
    self.environment = Wire.Environment(environment)
    inAppOwnershipType = Wire.InAppOwnershipType(fact.ownership)
    purchaseDate = GoogleProtobuf.Timestamp(fact.purchaseDate)
    originalPurchaseDate = fact.originalPurchaseDate.map(GoogleProtobuf.Timestamp.init)
    expiresDate = fact.expiresDate.map(GoogleProtobuf.Timestamp.init)
    revocationDate = fact.revocationDate.map(GoogleProtobuf.Timestamp.init)
    revocationReason = fact.revocationReason.map { Int32(clamping: $0.rawValue) } ?? 0
    revocationType = fact.revocationType?.rawValue ?? ""
    isUpgraded = fact.isUpgraded
    quantity = Int32(clamping: fact.quantity)
    offerType = fact.offerType.map(Wire.OfferType.init) ?? .unspecified
    offerIdentifier = fact.details.offerIdentifier ?? ""
    offerDiscountType = fact.offerDiscountType.map(Wire.OfferDiscountType.init) ?? .unspecified
    appAccountToken = fact.details.appAccountToken ?? ""
    appTransactionId = fact.details.appTransactionID ?? ""
    price = Wire.Money(milliunits: fact.details.price, currency: fact.details.currency)
    storefront = fact.details.storefront ?? ""
    transactionReason = fact.details.transactionReason?.rawValue ?? ""
    signedDate = GoogleProtobuf.Timestamp(fact.signedDate)
    fromReceipt = fact.details.isFromReceipt
  }
}

extension Wire.RenewalInfo {
  init(_ fact: RenewalFact, environment: AppStore.Environment) {
    self.init()
    originalTransactionId = fact.originalTransactionID
    productId = fact.productID
    autoRenewProductId = fact.autoRenewProductID ?? ""
    willAutoRenew = fact.autoRenewStatus == .on
    expirationIntent = fact.expirationIntent.map { Int32(clamping: $0.rawValue) } ?? 0
    isInBillingRetryPeriod = fact.isInBillingRetry
    gracePeriodExpiresDate = fact.gracePeriodExpiresDate.map(GoogleProtobuf.Timestamp.init)
    renewalDate = fact.renewalDate.map(GoogleProtobuf.Timestamp.init)
    renewalPrice = Wire.Money(milliunits: fact.details.renewalPrice, currency: fact.details.currency)
    priceIncreaseStatus = fact.priceIncreaseStatus.map(Wire.PriceIncreaseStatus.init) ?? .unspecified
    eligibleWinBackOfferIds = fact.details.eligibleWinBackOfferIDs
    recentSubscriptionStartDate = fact.details.recentSubscriptionStartDate.map(GoogleProtobuf.Timestamp.init)
    self.environment = Wire.Environment(environment)
    signedDate = GoogleProtobuf.Timestamp(fact.signedDate)
  }
}

extension GrantedEntitlement {
  init(_ fact: GrantFact) {
    self.init()
    grantId = fact.grantID
    entitlement = fact.entitlement
    accessLevel = Wire.AccessLevel(fact.accessLevel)
    since = GoogleProtobuf.Timestamp(fact.since)
    until = fact.until.map(GoogleProtobuf.Timestamp.init)
    revokedAt = fact.revokedAt.map(GoogleProtobuf.Timestamp.init)
    note = fact.note
    actor = fact.actor
  }
}
