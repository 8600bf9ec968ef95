internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import RPC
internal import Store
internal import Wire

// Evaluation results as messages of the contract.

extension CheckResponse {
  init(_ entitlement: Entitlement, environment: AppStore.Environment, evaluatedAt now: Instant) {
    self.init()
    self.entitlement = entitlement
    self.environment = Wire.Environment(environment)
    evaluatedAt = GoogleProtobuf.Timestamp(now)
  }
}

extension Entitlement {
  /// `evidence` is the id of the evidence that states the deciding fact; `now` is the instant of the status.
  init(
    _ status: EntitlementStatus, of name: String, in app: AppDefinition, evidence: EvidenceID? = nil,
    at now: Instant
  ) {
    self.init()
    self.name = name
    entitled = status.isEntitled
    accessLevel = Wire.AccessLevel(status.accessLevel)
    state = Wire.EntitlementState(status.reason)
    since = status.since.map(GoogleProtobuf.Timestamp.init)
    until = status.until.map(GoogleProtobuf.Timestamp.init)
    paidUntil = status.paidUntil.map(GoogleProtobuf.Timestamp.init)
    reason = status.reason.rawValue
    explanation = status.sentence
    checkAgainAt = status.checkAgainAt.map(GoogleProtobuf.Timestamp.init)
    evidenceId = evidence?.rawValue
    grantId = status.grantID ?? ""
    source = status.source
    if let grant = status.grant {
      externalId = grant.externalID
      productId = grant.productID
    }
    advice = status.advice(in: app).map { Wire.Advice($0, at: now) }
    var codes = AppStoreCodes()
    codes.stateCode = status.codeText
    codes.productState = Wire.ProductState(status.productState)
    if let deciding = status.deciding {
      describe(deciding, status, in: app)
      codes.describe(deciding, status, productType)
    }
    appStoreCodes = codes
  }

  /// Fills in the members of the deciding transaction. Prices are left out for customers who did not pay.
  private mutating func describe(
    _ deciding: DecidingTransaction, _ status: EntitlementStatus, in app: AppDefinition
  ) {
    productId = deciding.productID
    transactionId = deciding.transactionID
    originalTransactionId = deciding.originalTransactionID
    inAppOwnershipType = Wire.InAppOwnershipType(deciding.ownership)
    billingPlanType = deciding.billingPlanType.map(Wire.BillingPlanType.init) ?? .unspecified
    let mayReceivePrice = PurchaseRole(deciding.ownership).isPayer
    commitmentInfo = deciding.commitment.map {
      Wire.TransactionCommitmentInfo(
        $0, price: status.owesPayments ? deciding.payment : nil,
        currency: mayReceivePrice ? deciding.currency : nil)
    }
    manageUrl = status.manageURL ?? ""
    let type = deciding.type ?? app.products[deciding.productID]?.type
    productType = type.map(Wire.ProductType.init) ?? .unspecified
    if case .autoRenewableSubscription = productType {
      // Without renewal info, assume auto-renew: it is Apple's default until the customer turns it off.
      willRenew = status.willRenew ?? [.subscriptionActive, .awaitingRenewal].contains(status.reason)
    }
    autoRenewProductId = status.outlook?.productID ?? ""
    guard mayReceivePrice else { return }
    renewalPrice = Wire.Money(milliunits: status.outlook?.price, currency: status.outlook?.currency)
  }
}

extension AppStoreCodes {
  fileprivate mutating func describe(
    _ deciding: DecidingTransaction, _ status: EntitlementStatus, _ type: Wire.ProductType
  ) {
    if case .autoRenewableSubscription = type {
      self.status = status.reason.subscriptionStatus.map { Int32(clamping: $0.rawValue) }
    }
    if case .unrecognized(let word) = deciding.ownership { inAppOwnershipTypeRaw = word }
    if case .unrecognized(let word)? = deciding.billingPlanType { billingPlanTypeRaw = word }
  }
}

extension EntitlementStatus {
  /// The offset code in the notation of WWDC20-10671, always with its decimal.
  fileprivate var codeText: String {
    let tenths = Int((code * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}

extension Wire.Advice {
  init(_ advice: Entitlements.Advice, at now: Instant) {
    self.init()
    kind = Wire.AdviceKind(advice.kind)
    message = advice.sentence
    url = advice.url ?? ""
    deadline = advice.deadline.map(GoogleProtobuf.Timestamp.init)
    daysLeft = advice.daysLeft(at: now).map { Int32(clamping: $0) }
    offerIds = advice.offerIDs
    productIds = advice.productIDs
  }
}

extension Wire.AdviceKind {
  fileprivate init(_ kind: Entitlements.Advice.Kind) {
    switch kind {
    case .updateBilling: self = .updateBilling
    case .retentionOffer: self = .retentionOffer
    case .priceConsent: self = .priceConsent
    case .winBackOffer: self = .winBackOffer
    case .resubscribe: self = .resubscribe
    }
  }
}

extension Wire.AccessLevel {
  init(_ level: Entitlements.AccessLevel) {
    switch level {
    case .none: self = .none
    case .limited: self = .limited
    case .full: self = .full
    }
  }
}

extension Wire.EntitlementState {
  /// Maps a reason to the contract, which distinguishes some reasons that share a code.
  init(_ reason: EntitlementReason) {
    switch reason {
    case .subscriptionActive, .awaitingRenewal: self = .activeAutoRenewOn
    case .subscriptionNotRenewing: self = .activeAutoRenewOff
    case .inGracePeriod, .inOperatorGracePeriod: self = .gracePeriod
    case .nonRenewingActive, .trialActive: self = .nonRenewing
    case .nonConsumableOwned, .boughtBeforeVersion: self = .lifetime
    case .granted, .externalActive: self = .offPlatform
    case .unknownEntitlement, .neverPurchased, .notEntitlingType, .unknownProduct, .familySharingNotAllowed:
      self = .missing
    case .billingRetry: self = .billingRetry
    case .billingLapsed: self = .expiredBilling
    case .priceIncreaseNotAccepted: self = .expiredPriceIncrease
    case .productUnavailable: self = .productUnavailable
    case .cancelled, .expired, .productChanged, .grantRevoked, .consentRescinded, .externalEnded:
      self = .cancelled
    case .upgraded: self = .upgraded
    case .nonRenewingEnded, .trialEnded, .grantEnded, .appReceiptExpired: self = .nonRenewingExpired
    case .refundedForAppIssue: self = .refundedAppIssue
    case .refunded, .externalRefunded: self = .refundedOther
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
  /// The status as a message, for responses that contain several outcomes.
  init(_ status: RPC.Status) {
    self = (try? GoogleRPC.Status.decode(status.details)) ?? GoogleRPC.Status()
    code = Int32(status.code.rawValue)
    message = status.message
  }
}
