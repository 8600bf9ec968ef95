/// The state of a purchase, as segments select it. The raw values are stored, and equal those of the contract's
/// `EntitlementState`: never change one.
package enum SegmentState: Int64, Hashable, Sendable, CaseIterable {
  /// A subscription in its paid period that will renew, or whose renewal is awaited.
  case activeAutoRenewOn = 1
  /// A subscription in its paid period that ends with it.
  case activeAutoRenewOff = 2
  /// A non-renewing subscription or a free trial in its duration.
  case nonRenewing = 3
  /// A non-consumable without an end.
  case lifetime = 4
  /// A failed payment with access: in Apple's grace period or the operator's.
  case gracePeriod = 6
  /// The purchase has not begun, or its product grants nothing. No segment has it.
  case missing = 7
  /// A failed payment without access, which Apple retries.
  case billingRetry = 8
  /// Ended because of a failed payment.
  case expiredBilling = 9
  /// Ended because the customer did not consent to a price increase.
  case expiredPriceIncrease = 10
  /// Ended because the product could not be bought at the renewal.
  case productUnavailable = 11
  /// Ended by the customer's choice, without a known cause, or because a consent was withdrawn.
  case cancelled = 12
  /// Replaced at once by another product.
  case upgraded = 13
  /// Refunded because of an issue with the app.
  case refundedAppIssue = 14
  /// Refunded for another reason.
  case refundedOther = 15
  /// No longer shared with the customer.
  case familySharingEnded = 16
  /// A non-renewing subscription or a free trial whose duration ended.
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
