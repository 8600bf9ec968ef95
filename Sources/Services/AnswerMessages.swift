internal import AppStore
internal import Entitlements
internal import RPC
internal import Wire

// The rules' answers as messages of the contract.

extension CheckResponse {
  init(
    _ status: EntitlementStatus, of entitlement: String, in app: AppDefinition,
    environment: AppStore.Environment, evaluatedAt now: Instant
  ) {
    self.init()
    entitled = status.isEntitled
    accessLevel = status.isEntitled ? .full : .none
    state = Wire.EntitlementState(status.reason)
    stateCode = status.codeText
    productState = Wire.ProductState(status.productState)
    until = status.until.map(GoogleProtobuf.Timestamp.init)
    reason = status.reason.rawValue
    explanation = status.reason.sentence
    self.environment = Wire.Environment(environment)
    evaluatedAt = GoogleProtobuf.Timestamp(now)
    // Apple renews unless the customer says otherwise, and has said nothing here.
    willRenew = status.willRenew ?? (status.reason == .subscriptionActive)
    checkAgainAt = status.checkAgainAt.map(GoogleProtobuf.Timestamp.init)
    self.entitlement = entitlement
    guard let deciding = status.deciding else { return }
    productId = deciding.productID
    transactionId = deciding.transactionID
    originalTransactionId = deciding.originalTransactionID
    inAppOwnershipType = Wire.InAppOwnershipType(deciding.ownership)
    productType = app.products[deciding.productID].map { Wire.ProductType($0.type) } ?? .unspecified
    if case .autoRenewableSubscription = productType { self.status = status.reason.subscriptionStatus }
  }
}

extension EntitlementStatus {
  /// The code as WWDC20-10671 writes it: always with its decimal.
  fileprivate var codeText: String {
    let tenths = Int((code * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}

extension EntitlementReason {
  /// Apple's number for a subscription in this state (Get All Subscription Statuses, `status`).
  fileprivate var subscriptionStatus: Int32 {
    switch self {
    case .subscriptionActive, .subscriptionNotRenewing: 1
    case .billingLapsed, .priceIncreaseNotAccepted, .productUnavailable, .cancelled, .expired,
      .productChanged, .upgraded:
      2
    case .billingRetry: 3
    case .inGracePeriod: 4
    case .refundedForAppIssue, .refunded, .familySharingEnded: 5
    case .nonRenewingActive, .nonConsumableOwned, .trialActive, .unknownEntitlement, .neverPurchased,
      .notEntitlingType, .nonRenewingEnded, .trialEnded:
      0
    }
  }
}

extension Wire.EntitlementState {
  /// The contract tells apart some reasons that share a code.
  init(_ reason: EntitlementReason) {
    switch reason {
    case .subscriptionActive: self = .activeAutoRenewOn
    case .subscriptionNotRenewing: self = .activeAutoRenewOff
    case .inGracePeriod: self = .gracePeriod
    case .nonRenewingActive, .trialActive: self = .nonRenewing
    case .nonConsumableOwned: self = .lifetime
    case .unknownEntitlement, .neverPurchased, .notEntitlingType: self = .missing
    case .billingRetry: self = .billingRetry
    case .billingLapsed: self = .expiredBilling
    case .priceIncreaseNotAccepted: self = .expiredPriceIncrease
    case .productUnavailable: self = .productUnavailable
    case .cancelled, .expired, .productChanged: self = .cancelled
    case .upgraded: self = .upgraded
    case .nonRenewingEnded, .trialEnded: self = .nonRenewingExpired
    case .refundedForAppIssue: self = .refundedAppIssue
    case .refunded: self = .refundedOther
    case .familySharingEnded: self = .familySharingEnded
    }
  }
}

extension Wire.ProductState {
  init(_ state: Entitlements.ProductState) {
    switch state {
    case .new: self = .new
    case .active: self = .active
    case .inactive: self = .inactive
    }
  }
}

extension GoogleRPC.Status {
  /// The same as a message, for answers that carry several outcomes.
  init(_ status: RPC.Status) {
    self = (try? GoogleRPC.Status.decode(status.details)) ?? GoogleRPC.Status()
    code = Int32(status.code.rawValue)
    message = status.message
  }
}
