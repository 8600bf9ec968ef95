internal import AppStore
internal import Wire

// Apple's values as messages of the contract. A value that the contract does not define becomes unspecified;
// the evidence contains it verbatim.

extension GoogleProtobuf.Timestamp {
  init(_ instant: Instant) { self.init(millisecondsSince1970: instant.millisecondsSince1970) }
}

extension Wire.Environment {
  init(_ environment: AppStore.Environment) {
    switch environment {
    case .production: self = .production
    case .sandbox: self = .sandbox
    case .xcode: self = .xcode
    case .localTesting: self = .localTesting
    }
  }
}

extension AppStore.Environment {
  init?(_ environment: Wire.Environment) {
    switch environment {
    case .production: self = .production
    case .sandbox: self = .sandbox
    case .xcode: self = .xcode
    case .localTesting: self = .localTesting
    case .unspecified, .unrecognized: return nil
    }
  }
}

extension Wire.ProductType {
  init(_ type: AppStore.ProductType) {
    switch type {
    case .autoRenewableSubscription: self = .autoRenewableSubscription
    case .nonConsumable: self = .nonConsumable
    case .consumable: self = .consumable
    case .nonRenewingSubscription: self = .nonRenewingSubscription
    case .unrecognized: self = .unspecified
    }
  }
}

extension Wire.InAppOwnershipType {
  init(_ type: AppStore.InAppOwnershipType) {
    switch type {
    case .purchased: self = .purchased
    case .familyShared: self = .familyShared
    case .assigned: self = .assigned
    case .unrecognized: self = .unspecified
    }
  }
}

extension Wire.OfferType {
  init(_ type: AppStore.OfferType) {
    self = type.rawValue == 0 ? .unspecified : Wire.OfferType(rawValue: Int32(clamping: type.rawValue))
  }
}

extension Wire.OfferDiscountType {
  init(_ type: AppStore.OfferDiscountType) {
    switch type {
    case .freeTrial: self = .freeTrial
    case .payAsYouGo: self = .payAsYouGo
    case .payUpFront: self = .payUpFront
    case .oneTime: self = .oneTime
    case .unrecognized: self = .unspecified
    }
  }
}

extension Wire.PriceIncreaseStatus {
  init(_ status: AppStore.PriceIncreaseStatus) {
    switch status.rawValue {
    case 0: self = .pending
    case 1: self = .accepted
    default: self = .unspecified
    }
  }
}

extension Wire.Transaction {
  init(_ payload: JWSTransactionDecodedPayload) {
    self.init()
    transactionId = payload.transactionId ?? ""
    originalTransactionId = payload.originalTransactionId ?? ""
    webOrderLineItemId = payload.webOrderLineItemId ?? ""
    bundleId = payload.bundleId ?? ""
    productId = payload.productId ?? ""
    subscriptionGroupIdentifier = payload.subscriptionGroupIdentifier ?? ""
    type = payload.type.map(Wire.ProductType.init) ?? .unspecified
    environment = payload.environment.map(Wire.Environment.init) ?? .unspecified
    inAppOwnershipType = payload.inAppOwnershipType.map(Wire.InAppOwnershipType.init) ?? .unspecified
    purchaseDate = payload.purchaseDate.map(GoogleProtobuf.Timestamp.init)
    originalPurchaseDate = payload.originalPurchaseDate.map(GoogleProtobuf.Timestamp.init)
    expiresDate = payload.expiresDate.map(GoogleProtobuf.Timestamp.init)
    revocationDate = payload.revocationDate.map(GoogleProtobuf.Timestamp.init)
    revocationReason = payload.revocationReason.map { Int32(clamping: $0.rawValue) } ?? 0
    revocationType = payload.revocationType?.rawValue ?? ""
    isUpgraded = payload.isUpgraded ?? false
    quantity = payload.quantity.map { Int32(clamping: $0) } ?? 0
    offerType = payload.offerType.map(Wire.OfferType.init) ?? .unspecified
    offerIdentifier = payload.offerIdentifier ?? ""
    offerDiscountType = payload.offerDiscountType.map(Wire.OfferDiscountType.init) ?? .unspecified
    appAccountToken = payload.appAccountToken ?? ""
    appTransactionId = payload.appTransactionId ?? ""
    price = Wire.Money(milliunits: payload.price, currency: payload.currency)
    storefront = payload.storefront ?? ""
    transactionReason = payload.transactionReason?.rawValue ?? ""
    signedDate = payload.signedDate.map(GoogleProtobuf.Timestamp.init)
  }
}

extension Wire.RenewalInfo {
  init(_ payload: JWSRenewalInfoDecodedPayload) {
    self.init()
    originalTransactionId = payload.originalTransactionId ?? ""
    productId = payload.productId ?? ""
    autoRenewProductId = payload.autoRenewProductId ?? ""
    willAutoRenew = payload.autoRenewStatus == .on
    expirationIntent = payload.expirationIntent.map { Int32(clamping: $0.rawValue) } ?? 0
    isInBillingRetryPeriod = payload.isInBillingRetryPeriod ?? false
    gracePeriodExpiresDate = payload.gracePeriodExpiresDate.map(GoogleProtobuf.Timestamp.init)
    renewalDate = payload.renewalDate.map(GoogleProtobuf.Timestamp.init)
    renewalPrice = Wire.Money(milliunits: payload.renewalPrice, currency: payload.currency)
    priceIncreaseStatus = payload.priceIncreaseStatus.map(Wire.PriceIncreaseStatus.init) ?? .unspecified
    eligibleWinBackOfferIds = payload.eligibleWinBackOfferIds ?? []
    recentSubscriptionStartDate = payload.recentSubscriptionStartDate.map(GoogleProtobuf.Timestamp.init)
    environment = payload.environment.map(Wire.Environment.init) ?? .unspecified
    signedDate = payload.signedDate.map(GoogleProtobuf.Timestamp.init)
  }
}

extension Wire.Money {
  /// `nil` if Apple's response has no amount.
  init?(milliunits: Int64?, currency: String?) {
    guard let milliunits else { return nil }
    self.init()
    self.milliunits = milliunits
    self.currency = currency ?? ""
  }
}
