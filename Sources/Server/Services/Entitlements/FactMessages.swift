internal import AppStore
internal import Entitlements
internal import Store
internal import Wire

// Facts as messages of the contract, under Apple's names.

extension Wire.Transaction {
  /// `bundleId` is that of the app, because facts exist only of documents about it. Every `..._raw` member has Apple's
  /// word for a value that this version does not define.
  init(_ fact: TransactionFact, of app: AppDefinition, environment: AppStore.Environment) {
    self.init()
    transactionId = fact.transactionID
    originalTransactionId = fact.originalTransactionID
    webOrderLineItemId = fact.details.webOrderLineItemID ?? ""
    bundleId = app.identity.bundleID
    productId = fact.productID
    subscriptionGroupIdentifier = fact.subscriptionGroupID ?? ""
    type = Wire.ProductType(app.type(of: fact))
    typeRaw = fact.type.unknownWord
    self.environment = Wire.Environment(environment)
    inAppOwnershipType = Wire.InAppOwnershipType(fact.ownership)
    inAppOwnershipTypeRaw = fact.ownership.unknownWord
    purchaseDate = GoogleProtobuf.Timestamp(fact.purchaseDate)
    originalPurchaseDate = fact.originalPurchaseDate.map(GoogleProtobuf.Timestamp.init)
    expiresDate = fact.expiresDate.map(GoogleProtobuf.Timestamp.init)
    revocationDate = fact.revocationDate.map(GoogleProtobuf.Timestamp.init)
    revocationReason = fact.revocationReason.flatMap {
      $0.unknownWord.isEmpty ? Int32(clamping: $0.rawValue) : nil
    }
    revocationReasonRaw = fact.revocationReason?.unknownWord ?? ""
    revocationType = fact.revocationType?.rawValue ?? ""
    isUpgraded = fact.isUpgraded
    quantity = Int32(clamping: fact.quantity)
    revokedSeatQuantity = Int32(clamping: fact.revokedSeatQuantity ?? 0)
    offerType = fact.offerType.map(Wire.OfferType.init) ?? .unspecified
    offerTypeRaw = fact.offerType?.unknownWord ?? ""
    offerIdentifier = fact.details.offerIdentifier ?? ""
    offerDiscountType = fact.offerDiscountType.map(Wire.OfferDiscountType.init) ?? .unspecified
    offerDiscountTypeRaw = fact.offerDiscountType?.unknownWord ?? ""
    appAccountToken = fact.details.appAccountToken ?? ""
    appTransactionId = fact.details.appTransactionID ?? ""
    price = Wire.Money(milliunits: fact.details.price, currency: fact.details.currency)
    storefront = fact.details.storefront ?? ""
    transactionReason = fact.details.transactionReason?.rawValue ?? ""
    signedDate = GoogleProtobuf.Timestamp(fact.signedDate)
    fromReceipt = fact.details.isFromReceipt
    billingPlanType = fact.details.billingPlanType.map(Wire.BillingPlanType.init) ?? .unspecified
    billingPlanTypeRaw = fact.details.billingPlanType?.unknownWord ?? ""
    commitmentInfo = fact.details.commitment.map {
      Wire.TransactionCommitmentInfo($0, price: fact.details.price, currency: fact.details.currency)
    }
  }
}

extension Wire.RenewalInfo {
  /// Renewal info as Apple signed it last; see the transactions for `..._raw`.
  init(_ fact: RenewalFact, environment: AppStore.Environment) {
    self.init()
    originalTransactionId = fact.originalTransactionID
    productId = fact.productID
    autoRenewProductId = fact.autoRenewProductID ?? ""
    willAutoRenew = fact.autoRenewStatus.flatMap(\.isOn)
    autoRenewStatusRaw = fact.autoRenewStatus?.unknownWord ?? ""
    expirationIntent = fact.expirationIntent.flatMap {
      $0.unknownWord.isEmpty ? Int32(clamping: $0.rawValue) : nil
    }
    expirationIntentRaw = fact.expirationIntent?.unknownWord ?? ""
    isInBillingRetryPeriod = fact.isInBillingRetry
    gracePeriodExpiresDate = fact.gracePeriodExpiresDate.map(GoogleProtobuf.Timestamp.init)
    renewalDate = fact.renewalDate.map(GoogleProtobuf.Timestamp.init)
    renewalPrice = Wire.Money(milliunits: fact.details.renewalPrice, currency: fact.details.currency)
    priceIncreaseStatus = fact.priceIncreaseStatus.map(Wire.PriceIncreaseStatus.init) ?? .unspecified
    priceIncreaseStatusRaw = fact.priceIncreaseStatus?.unknownWord ?? ""
    offerType = fact.details.offerType.map(Wire.OfferType.init) ?? .unspecified
    offerTypeRaw = fact.details.offerType?.unknownWord ?? ""
    offerIdentifier = fact.details.offerIdentifier ?? ""
    offerDiscountType = fact.details.offerDiscountType.map(Wire.OfferDiscountType.init) ?? .unspecified
    offerDiscountTypeRaw = fact.details.offerDiscountType?.unknownWord ?? ""
    renewalBillingPlanType = fact.details.billingPlanType.map(Wire.BillingPlanType.init) ?? .unspecified
    renewalBillingPlanTypeRaw = fact.details.billingPlanType?.unknownWord ?? ""
    commitmentInfo = fact.details.commitment.map {
      Wire.RenewalCommitmentInfo($0, currency: fact.details.currency)
    }
    eligibleWinBackOfferIds = fact.details.eligibleWinBackOfferIDs
    recentSubscriptionStartDate = fact.details.recentSubscriptionStartDate.map(GoogleProtobuf.Timestamp.init)
    self.environment = Wire.Environment(environment)
    signedDate = GoogleProtobuf.Timestamp(fact.signedDate)
  }
}

extension Grant {
  /// A grant in its present state; with a source, that of a purchase in another store.
  init(_ fact: GrantFact, to customer: CustomerKey) {
    self.init()
    grantId = fact.grantID
    app = customer.appID
    environment = Wire.Environment(customer.environment)
    customerId = customer.customerID
    entitlement = fact.entitlement
    accessLevel = Wire.AccessLevel(fact.accessLevel)
    since = GoogleProtobuf.Timestamp(fact.since)
    until = fact.until.map(GoogleProtobuf.Timestamp.init)
    revokedAt = fact.revokedAt.map(GoogleProtobuf.Timestamp.init)
    note = fact.note
    actor = fact.actor
    guard let external = fact.external else { return }
    source = external.source
    externalId = external.externalID
    productId = external.productID
    revision = external.revision
  }

  init(_ grant: OwnedGrant) { self.init(grant.fact, to: grant.customer) }
}

extension AutoRenewStatus {
  /// `nil` for a value that this version does not know.
  var isOn: Bool? {
    switch self {
    case .on: true
    case .off: false
    case .unrecognized: nil
    }
  }
}
