package import AppStore

/// Why the answer is what it is: a code for machines, and a sentence for people.
package enum EntitlementReason: String, Hashable, Sendable, CaseIterable {
  case subscriptionActive = "SUBSCRIPTION_ACTIVE"
  case subscriptionNotRenewing = "SUBSCRIPTION_NOT_RENEWING"
  case inGracePeriod = "IN_GRACE_PERIOD"
  case nonRenewingActive = "NON_RENEWING_ACTIVE"
  case nonConsumableOwned = "NON_CONSUMABLE_OWNED"
  case trialActive = "TRIAL_ACTIVE"

  case unknownEntitlement = "UNKNOWN_ENTITLEMENT"
  case neverPurchased = "NEVER_PURCHASED"
  case notEntitlingType = "NOT_ENTITLING_TYPE"
  case billingRetry = "BILLING_RETRY"
  case billingLapsed = "BILLING_LAPSED"
  case priceIncreaseNotAccepted = "PRICE_INCREASE_NOT_ACCEPTED"
  case productUnavailable = "PRODUCT_UNAVAILABLE"
  case cancelled = "CANCELLED"
  case expired = "EXPIRED"
  case productChanged = "PRODUCT_CHANGED"
  case upgraded = "UPGRADED"
  case nonRenewingEnded = "NON_RENEWING_ENDED"
  case trialEnded = "TRIAL_ENDED"
  case refundedForAppIssue = "REFUNDED_FOR_APP_ISSUE"
  case refunded = "REFUNDED"
  case familySharingEnded = "FAMILY_SHARING_ENDED"

  case boughtBeforeVersion = "BOUGHT_BEFORE_VERSION"
  case granted = "GRANTED"
  case inOperatorGracePeriod = "IN_OPERATOR_GRACE_PERIOD"
  case unknownProduct = "UNKNOWN_PRODUCT"
  case familySharingNotAllowed = "FAMILY_SHARING_NOT_ALLOWED"
  case grantEnded = "GRANT_ENDED"
  case grantRevoked = "GRANT_REVOKED"

  /// The reason in a sentence, without a name or a number of the customer.
  package var sentence: String {
    switch self {
    case .subscriptionActive: "The subscription's paid period is running."
    case .subscriptionNotRenewing: "The subscription's paid period is running; it will not renew."
    case .inGracePeriod: "The renewal could not be charged; the billing grace period is running."
    case .nonRenewingActive: "The non-renewing subscription is running."
    case .nonConsumableOwned: "The customer owns a non-consumable that gives this for ever."
    case .trialActive: "The free trial is running."
    case .unknownEntitlement: "No product of this app gives this entitlement."
    case .neverPurchased: "No purchase of a product that gives this entitlement is known."
    case .notEntitlingType: "What was bought is of a type that gives no entitlement."
    case .billingRetry: "The renewal could not be charged and the App Store is still trying."
    case .billingLapsed: "The renewal could not be charged."
    case .priceIncreaseNotAccepted: "The customer did not accept a price increase."
    case .productUnavailable: "The product was not for sale when it should have renewed."
    case .cancelled: "The customer turned renewal off and the paid period is over."
    case .expired: "The paid period is over and no renewal is known."
    case .productChanged: "The subscription renewed to a product that does not give this entitlement."
    case .upgraded: "Another product took over that does not give this entitlement."
    case .nonRenewingEnded: "The non-renewing subscription is over."
    case .trialEnded: "The free trial is over."
    case .refundedForAppIssue: "The purchase was refunded for an issue with the app."
    case .refunded: "The purchase was refunded."
    case .familySharingEnded: "The purchase is no longer shared with this family member."
    case .boughtBeforeVersion: "The customer got the app before this was sold separately."
    case .granted: "The operator gave this without a purchase."
    case .inOperatorGracePeriod: "The renewal could not be charged; the operator waits for the payment."
    case .unknownProduct: "Only purchases of products are known that the catalog does not have."
    case .familySharingNotAllowed: "The purchase is shared, and this entitlement is not for family members."
    case .grantEnded: "What the operator gave has ended."
    case .grantRevoked: "The operator took back what it gave."
    }
  }

  /// The state that goes with the reason.
  package var state: EntitlementState {
    switch self {
    case .subscriptionActive: .activeRenewing
    case .subscriptionNotRenewing: .activeNotRenewing
    case .inGracePeriod, .inOperatorGracePeriod: .gracePeriod
    case .nonRenewingActive, .nonConsumableOwned, .trialActive, .boughtBeforeVersion: .nonRenewing
    case .granted: .offPlatform
    case .unknownEntitlement, .neverPurchased, .notEntitlingType, .unknownProduct, .familySharingNotAllowed:
      .noPurchase
    case .billingRetry: .billingRetry
    case .billingLapsed: .lapsedForBilling
    case .priceIncreaseNotAccepted: .priceIncreaseNotAccepted
    case .productUnavailable: .productUnavailable
    case .cancelled, .expired, .productChanged, .nonRenewingEnded, .trialEnded, .grantEnded, .grantRevoked:
      .cancelled
    case .upgraded: .upgraded
    case .refundedForAppIssue: .refundedForAppIssue
    case .refunded, .familySharingEnded: .refundedForOtherReason
    }
  }
  /// Apple's number of a subscription's status in this state (Get All Subscription Statuses); `nil` for what
  /// is no subscription. Of what the operator's grace is, Apple knows only that it retries.
  package var subscriptionStatus: SubscriptionStatus? {
    switch self {
    case .subscriptionActive, .subscriptionNotRenewing: .active
    case .billingLapsed, .priceIncreaseNotAccepted, .productUnavailable, .cancelled, .expired,
      .productChanged, .upgraded:
      .expired
    case .billingRetry, .inOperatorGracePeriod: .billingRetry
    case .inGracePeriod: .billingGracePeriod
    case .refundedForAppIssue, .refunded, .familySharingEnded: .revoked
    case .nonRenewingActive, .nonConsumableOwned, .trialActive, .boughtBeforeVersion, .granted,
      .unknownEntitlement, .neverPurchased, .notEntitlingType, .unknownProduct, .familySharingNotAllowed,
      .nonRenewingEnded, .trialEnded, .grantEnded, .grantRevoked:
      nil
    }
  }
}
