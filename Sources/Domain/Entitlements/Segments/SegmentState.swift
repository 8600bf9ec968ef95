/// The state of a purchase, as segments select it. The raw values are stored, and equal those of the contract's
/// `EntitlementState`: never change one.
package enum SegmentState: Int64, Hashable, Sendable, CaseIterable {
  case activeAutoRenewOn = 1
  case activeAutoRenewOff = 2
  case nonRenewing = 3
  case lifetime = 4
  case gracePeriod = 6
  /// The purchase has not begun, or its product grants nothing. No segment has it.
  case missing = 7
  case billingRetry = 8
  case expiredBilling = 9
  case expiredPriceIncrease = 10
  case productUnavailable = 11
  case cancelled = 12
  case upgraded = 13
  case refundedAppIssue = 14
  case refundedOther = 15
  case familySharingEnded = 16
  case nonRenewingExpired = 17

  /// The states that a segment may select.
  package static let selectable = allCases.filter { $0 != .missing }

  /// The name in the configuration: that of the contract without its prefix.
  package var name: String {
    switch self {
    case .activeAutoRenewOn: "ACTIVE_AUTO_RENEW_ON"
    case .activeAutoRenewOff: "ACTIVE_AUTO_RENEW_OFF"
    case .nonRenewing: "NON_RENEWING"
    case .lifetime: "LIFETIME"
    case .gracePeriod: "GRACE_PERIOD"
    case .missing: "MISSING"
    case .billingRetry: "BILLING_RETRY"
    case .expiredBilling: "EXPIRED_BILLING"
    case .expiredPriceIncrease: "EXPIRED_PRICE_INCREASE"
    case .productUnavailable: "PRODUCT_UNAVAILABLE"
    case .cancelled: "CANCELLED"
    case .upgraded: "UPGRADED"
    case .refundedAppIssue: "REFUNDED_APP_ISSUE"
    case .refundedOther: "REFUNDED_OTHER"
    case .familySharingEnded: "FAMILY_SHARING_ENDED"
    case .nonRenewingExpired: "NON_RENEWING_EXPIRED"
    }
  }

  /// The state of a purchase with this reason.
  package init(_ reason: EntitlementReason) {
    switch reason {
    case .subscriptionActive, .awaitingRenewal: self = .activeAutoRenewOn
    case .subscriptionNotRenewing: self = .activeAutoRenewOff
    case .inGracePeriod, .inOperatorGracePeriod: self = .gracePeriod
    case .nonRenewingActive, .trialActive: self = .nonRenewing
    case .nonConsumableOwned: self = .lifetime
    case .billingRetry: self = .billingRetry
    case .billingLapsed: self = .expiredBilling
    case .priceIncreaseNotAccepted: self = .expiredPriceIncrease
    case .productUnavailable: self = .productUnavailable
    case .cancelled, .expired, .productChanged, .consentRescinded: self = .cancelled
    case .upgraded: self = .upgraded
    case .nonRenewingEnded, .trialEnded: self = .nonRenewingExpired
    case .refundedForAppIssue: self = .refundedAppIssue
    case .refunded: self = .refundedOther
    case .familySharingEnded: self = .familySharingEnded
    // No purchase at Apple has the others.
    case .unknownEntitlement, .neverPurchased, .notEntitlingType, .unknownProduct, .familySharingNotAllowed,
      .boughtBeforeVersion, .granted, .grantEnded, .grantRevoked, .externalActive, .externalEnded,
      .externalRefunded, .appReceiptExpired:
      self = .missing
    }
  }
}
