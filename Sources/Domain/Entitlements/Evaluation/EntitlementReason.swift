package import AppStore

/// The reason for an answer: a stable code and an English sentence. The raw values are stored in events and
/// returned by the API; precomputed answers store the position of the case: never change a raw value, and
/// append new cases at the end.
package enum EntitlementReason: String, Hashable, Sendable, CaseIterable {
  /// The period is paid, and auto-renew is on.
  case subscriptionActive = "SUBSCRIPTION_ACTIVE"
  /// The period is paid, and auto-renew is off: access ends with the period.
  case subscriptionNotRenewing = "SUBSCRIPTION_NOT_RENEWING"
  /// The payment failed, and Apple's grace period has not ended (`gracePeriodExpiresDate`).
  case inGracePeriod = "IN_GRACE_PERIOD"
  /// The duration that the catalog states for the non-renewing subscription has not ended.
  case nonRenewingActive = "NON_RENEWING_ACTIVE"
  /// The customer has a non-consumable that was not revoked.
  case nonConsumableOwned = "NON_CONSUMABLE_OWNED"
  /// The duration of a non-consumable that the catalog defines as a free trial has not ended (WWDC18-704).
  case trialActive = "TRIAL_ACTIVE"

  /// No product, rule or grant of the catalog has the entitlement. A caller should treat it as its own mistake.
  case unknownEntitlement = "UNKNOWN_ENTITLEMENT"
  /// No fact of the customer is about a product with the entitlement.
  case neverPurchased = "NEVER_PURCHASED"
  /// The purchase is of a type that never grants access, such as a consumable.
  case notEntitlingType = "NOT_ENTITLING_TYPE"
  /// The payment failed, Apple retries it, and no grace period applies.
  case billingRetry = "BILLING_RETRY"
  /// The payment failed, and Apple stopped retrying it (`expirationIntent` 2), or the time for that is over.
  case billingLapsed = "BILLING_LAPSED"
  /// The customer did not consent to a price increase (`expirationIntent` 3).
  case priceIncreaseNotAccepted = "PRICE_INCREASE_NOT_ACCEPTED"
  /// The product could not be bought when the subscription should have renewed (`expirationIntent` 4).
  case productUnavailable = "PRODUCT_UNAVAILABLE"
  /// The period ended, and the customer had turned auto-renew off (`expirationIntent` 1, or none).
  case cancelled = "CANCELLED"
  /// The period ended, and Apple stated no cause or one that this version does not know.
  case expired = "EXPIRED"
  /// The last period is followed by one of a product without the entitlement.
  case productChanged = "PRODUCT_CHANGED"
  /// A transaction of a product without the entitlement replaced the last one before its end (`isUpgraded`).
  case upgraded = "UPGRADED"
  /// The duration that the catalog states for the non-renewing subscription ended.
  case nonRenewingEnded = "NON_RENEWING_ENDED"
  /// The duration of a non-consumable that the catalog defines as a free trial ended.
  case trialEnded = "TRIAL_ENDED"
  /// The deciding purchase was refunded because of an issue with the app (`revocationReason` 1).
  case refundedForAppIssue = "REFUNDED_FOR_APP_ISSUE"
  /// The deciding purchase, or that of the app, was refunded for another reason, or Apple stated none.
  case refunded = "REFUNDED"
  /// The deciding purchase is no longer shared with the customer (`FAMILY_REVOKE`, or a refund of it).
  case familySharingEnded = "FAMILY_SHARING_ENDED"

  /// The app was bought in a version before the one that the catalog's rule names.
  case boughtBeforeVersion = "BOUGHT_BEFORE_VERSION"
  /// A grant of the operator decides.
  case granted = "GRANTED"
  /// The payment failed, Apple's grace period is over or there is none, and the operator's has not ended.
  case inOperatorGracePeriod = "IN_OPERATOR_GRACE_PERIOD"
  /// The customer's purchases are of products that the catalog does not define.
  case unknownProduct = "UNKNOWN_PRODUCT"
  /// The purchase is shared by a family member, and the catalog excludes the entitlement from sharing.
  case familySharingNotAllowed = "FAMILY_SHARING_NOT_ALLOWED"
  /// The last grant reached its end.
  case grantEnded = "GRANT_ENDED"
  /// The operator revoked the last grant before its end.
  case grantRevoked = "GRANT_REVOKED"
  /// The period ended with auto-renew on less than the renewal slack ago, and Apple has not reported the renewal.
  case awaitingRenewal = "AWAITING_RENEWAL"
  /// A parent or guardian withdrew the consent, and the catalog ends access for it.
  case consentRescinded = "CONSENT_RESCINDED"
  /// A purchase in another store that the operator reported is in force.
  case externalActive = "EXTERNAL_PURCHASE_ACTIVE"
  /// A purchase in another store that the operator reported reached its end.
  case externalEnded = "EXTERNAL_PURCHASE_ENDED"
  /// A purchase in another store that the operator reported was refunded.
  case externalRefunded = "EXTERNAL_PURCHASE_REFUNDED"
  /// An organization bought the app, and the expiration date of its app receipt is over.
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
    case .upgraded:
      "The customer upgraded to a product that does not grant this entitlement, or whose purchase is not known."
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
