internal import AppStore
internal import Entitlements
internal import Wire

// Apple's values as messages of the contract. A value that the contract does not define becomes unspecified, and its
// `..._raw` member has it as text.

extension GoogleProtobuf.Timestamp {
  /// Whole milliseconds, as Apple's dates are.
  init(_ instant: Instant) { self.init(millisecondsSince1970: instant.millisecondsSince1970) }
}

extension Wire.Environment {
  /// Total: each of Apple's environments has a value in the contract.
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
  /// `nil` for an unspecified environment and for one that this version does not define.
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
  /// An unknown type becomes unspecified, as in all initializers of this file.
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
    switch type {
    case .introductory: self = .introductory
    case .promotional: self = .promotional
    case .offerCode: self = .offerCode
    case .winBack: self = .winBack
    case .retention: self = .retention
    case .unrecognized: self = .unspecified
    }
  }
}

extension Wire.BillingPlanType {
  init(_ type: AppStore.BillingPlanType) {
    switch type {
    case .billedUpfront: self = .billedUpfront
    case .monthly: self = .monthly
    case .unrecognized: self = .unspecified
    }
  }
}

extension Wire.TransactionCommitmentInfo {
  /// `price` is that of the payment; without it there is no forecast. Without a currency, the message has no prices.
  init(_ commitment: TransactionDetails.Commitment, price: Int64? = nil, currency: String?) {
    self.init()
    billingPeriodNumber = Int32(clamping: commitment.billingPeriodNumber)
    totalBillingPeriods = Int32(clamping: commitment.totalBillingPeriods)
    commitmentExpiresDate = commitment.expiresDate.map(GoogleProtobuf.Timestamp.init)
    remainingPeriods = Int32(clamping: commitment.remainingPeriods)
    guard let currency else { return }
    commitmentPrice = Wire.Money(milliunits: commitment.price, currency: currency)
    remainingPrice = Wire.Money(milliunits: commitment.remainingPrice(at: price), currency: currency)
  }
}

extension Wire.RenewalCommitmentInfo {
  /// Without a currency, the message has no price.
  init(_ commitment: RenewalDetails.Commitment, currency: String?) {
    self.init()
    commitmentAutoRenewProductId = commitment.autoRenewProductID ?? ""
    commitmentWillAutoRenew = commitment.autoRenewStatus.flatMap(\.isOn)
    commitmentAutoRenewStatusRaw = commitment.autoRenewStatus?.unknownWord ?? ""
    commitmentRenewalBillingPlanType =
      commitment.billingPlanType.map(Wire.BillingPlanType.init) ?? .unspecified
    commitmentRenewalBillingPlanTypeRaw = commitment.billingPlanType?.unknownWord ?? ""
    commitmentRenewalDate = commitment.renewalDate.map(GoogleProtobuf.Timestamp.init)
    commitmentRenewalPrice = Wire.Money(milliunits: commitment.renewalPrice, currency: currency)
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
  /// Apple's 0 and 1: the customer has not responded, or has consented or was notified only.
  init(_ status: AppStore.PriceIncreaseStatus) {
    switch status.rawValue {
    case 0: self = .pending
    case 1: self = .accepted
    default: self = .unspecified
    }
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
