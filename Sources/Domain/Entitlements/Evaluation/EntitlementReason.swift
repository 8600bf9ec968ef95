package import AppStore

/// The reason for an answer: a stable code and an English sentence. The raw values are stored in events and
/// returned by the API; precomputed answers store the position of the case: never change a raw value, and
/// append new cases at the end.
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
  case awaitingRenewal = "AWAITING_RENEWAL"
  case consentRescinded = "CONSENT_RESCINDED"
  case externalActive = "EXTERNAL_PURCHASE_ACTIVE"
  case externalEnded = "EXTERNAL_PURCHASE_ENDED"
  case externalRefunded = "EXTERNAL_PURCHASE_REFUNDED"
  case appReceiptExpired = "APP_RECEIPT_EXPIRED"

  /// An English sentence for people, without data of the customer.
  package var sentence: String {
    switch self {
    case .subscriptionActive: "The subscription is active."
    case .subscriptionNotRenewing:
      "The subscription is active until the end of the paid period; auto-renew is off."
    case .inGracePeriod: "The renewal payment failed; access continues during Apple's billing grace period."
    case .nonRenewingActive: "The non-renewing subscription is active."
    case .nonConsumableOwned: "The customer owns a non-consumable that grants this entitlement permanently."
    case .trialActive: "The free trial is active."
    case .unknownEntitlement: "No product of this app grants this entitlement."
    case .neverPurchased: "The customer has no purchase of a product that grants this entitlement."
    case .notEntitlingType: "The type of the purchased product grants no entitlement."
    case .billingRetry: "The renewal payment failed and the App Store is retrying it."
    case .billingLapsed: "The subscription ended because the renewal payment failed."
    case .priceIncreaseNotAccepted:
      "The subscription ended because the customer did not accept a price increase."
    case .productUnavailable: "The subscription ended because the product was not available for renewal."
    case .cancelled: "The customer turned auto-renew off and the paid period ended."
    case .expired: "The paid period ended and no renewal was received."
    case .productChanged: "The subscription renewed to a product that does not grant this entitlement."
    case .upgraded: "The customer upgraded to a product that does not grant this entitlement."
    case .nonRenewingEnded: "The non-renewing subscription ended."
    case .trialEnded: "The free trial ended."
    case .refundedForAppIssue: "The purchase was refunded because of an issue with the app."
    case .refunded: "The purchase was refunded."
    case .familySharingEnded: "The purchase is no longer shared with this customer."
    case .boughtBeforeVersion: "The customer got the app before this entitlement was sold separately."
    case .granted: "The operator granted this entitlement without a purchase."
    case .inOperatorGracePeriod:
      "The renewal payment failed; access continues during the operator's grace period."
    case .unknownProduct: "The customer has only purchases of products that are not in the catalog."
    case .familySharingNotAllowed:
      "The purchase is shared by a family member, and the catalog does not share this entitlement."
    case .grantEnded: "The operator's grant ended."
    case .grantRevoked: "The operator revoked the grant."
    case .awaitingRenewal:
      "The paid period ended with auto-renew on; access continues until the App Store reports the renewal."
    case .consentRescinded: "A parent or guardian withdrew the consent that the customer uses the app."
    case .externalActive: "The customer bought this entitlement in another store."
    case .externalEnded: "The purchase in another store ended."
    case .externalRefunded: "The purchase in another store was refunded."
    case .appReceiptExpired: "The app was bought by an organization, and the receipt of its license expired."
    }
  }

  /// The entitlement state of the reason (WWDC20-10671).
  package var state: EntitlementState {
    switch self {
    case .subscriptionActive, .awaitingRenewal: .activeRenewing
    case .subscriptionNotRenewing: .activeNotRenewing
    case .inGracePeriod, .inOperatorGracePeriod: .gracePeriod
    case .nonRenewingActive, .nonConsumableOwned, .trialActive, .boughtBeforeVersion: .nonRenewing
    case .granted, .externalActive: .offPlatform
    case .unknownEntitlement, .neverPurchased, .notEntitlingType, .unknownProduct, .familySharingNotAllowed:
      .noPurchase
    case .billingRetry: .billingRetry
    case .billingLapsed: .lapsedForBilling
    case .priceIncreaseNotAccepted: .priceIncreaseNotAccepted
    case .productUnavailable: .productUnavailable
    case .cancelled, .expired, .productChanged, .nonRenewingEnded, .trialEnded, .grantEnded, .grantRevoked,
      .consentRescinded, .externalEnded, .appReceiptExpired:
      .cancelled
    case .upgraded: .upgraded
    case .refundedForAppIssue: .refundedForAppIssue
    case .refunded, .familySharingEnded, .externalRefunded: .refundedForOtherReason
    }
  }

  /// Apple's subscription `status` for this reason (Get All Subscription Statuses); `nil` for anything but a
  /// subscription. For Apple, the operator's grace is plain billing retry.
  package var subscriptionStatus: SubscriptionStatus? {
    switch self {
    case .subscriptionActive, .subscriptionNotRenewing, .awaitingRenewal: .active
    case .billingLapsed, .priceIncreaseNotAccepted, .productUnavailable, .cancelled, .expired,
      .productChanged, .upgraded:
      .expired
    case .billingRetry, .inOperatorGracePeriod: .billingRetry
    case .inGracePeriod: .billingGracePeriod
    case .refundedForAppIssue, .refunded, .familySharingEnded: .revoked
    case .nonRenewingActive, .nonConsumableOwned, .trialActive, .boughtBeforeVersion, .granted,
      .unknownEntitlement, .neverPurchased, .notEntitlingType, .unknownProduct, .familySharingNotAllowed,
      .nonRenewingEnded, .trialEnded, .grantEnded, .grantRevoked, .consentRescinded, .externalActive,
      .externalEnded, .externalRefunded, .appReceiptExpired:
      nil
    }
  }
}
