/// The type of a version 2 notification (Apple's `notificationType`).
package enum NotificationTypeV2: OpenCode {
  case subscribed
  case didChangeRenewalPref
  case didChangeRenewalStatus
  case offerRedeemed
  case didRenew
  case expired
  case didFailToRenew
  case gracePeriodExpired
  case priceIncrease
  case refund
  case refundDeclined
  case refundReversed
  case consumptionRequest
  /// One renewal date was extended.
  case renewalExtended
  /// A mass extension completed, or one of its extensions failed.
  case renewalExtension
  /// A family member lost shared access.
  case revoke
  case oneTimeCharge
  /// A parent or guardian withdrew consent for the app.
  case rescindConsent
  case externalPurchaseToken
  case metadataUpdate
  /// A subscription was migrated to Advanced Commerce.
  case migration
  /// The same, under the name in Apple's changelog.
  case migrate
  case priceChange
  /// Apple released seats of a group subscription.
  case unclaimSeats
  case test
  case unrecognized(String)

  package static let known: [NotificationTypeV2] = [
    .subscribed, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .didRenew, .expired,
    .didFailToRenew, .gracePeriodExpired, .priceIncrease, .refund, .refundDeclined, .refundReversed,
    .consumptionRequest, .renewalExtended, .renewalExtension, .revoke, .oneTimeCharge, .rescindConsent,
    .externalPurchaseToken, .metadataUpdate, .migration, .migrate, .priceChange, .unclaimSeats, .test,
  ]

  package var rawValue: String {
    switch self {
    case .subscribed: "SUBSCRIBED"
    case .didChangeRenewalPref: "DID_CHANGE_RENEWAL_PREF"
    case .didChangeRenewalStatus: "DID_CHANGE_RENEWAL_STATUS"
    case .offerRedeemed: "OFFER_REDEEMED"
    case .didRenew: "DID_RENEW"
    case .expired: "EXPIRED"
    case .didFailToRenew: "DID_FAIL_TO_RENEW"
    case .gracePeriodExpired: "GRACE_PERIOD_EXPIRED"
    case .priceIncrease: "PRICE_INCREASE"
    case .refund: "REFUND"
    case .refundDeclined: "REFUND_DECLINED"
    case .refundReversed: "REFUND_REVERSED"
    case .consumptionRequest: "CONSUMPTION_REQUEST"
    case .renewalExtended: "RENEWAL_EXTENDED"
    case .renewalExtension: "RENEWAL_EXTENSION"
    case .revoke: "REVOKE"
    case .oneTimeCharge: "ONE_TIME_CHARGE"
    case .rescindConsent: "RESCIND_CONSENT"
    case .externalPurchaseToken: "EXTERNAL_PURCHASE_TOKEN"
    case .metadataUpdate: "METADATA_UPDATE"
    case .migration: "MIGRATION"
    case .migrate: "MIGRATE"
    case .priceChange: "PRICE_CHANGE"
    case .unclaimSeats: "UNCLAIM_SEATS"
    case .test: "TEST"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The detail of a version 2 notification (Apple's `subtype`).
package enum NotificationSubtype: OpenCode {
  case initialBuy
  case resubscribe
  case downgrade
  case upgrade
  case autoRenewEnabled
  case autoRenewDisabled
  case voluntary
  case billingRetry
  case priceIncrease
  case gracePeriod
  case pending
  case accepted
  case billingRecovery
  case productNotForSale
  case summary
  case failure
  case unreported
  case created
  case activeTokenReminder
  /// With `REFUND`: only seats were refunded.
  case seats
  /// Seats were added.
  case increaseQuantity
  /// Fewer seats from the next renewal on.
  case decreaseQuantity
  case unrecognized(String)

  package static let known: [NotificationSubtype] = [
    .initialBuy, .resubscribe, .downgrade, .upgrade, .autoRenewEnabled, .autoRenewDisabled, .voluntary,
    .billingRetry, .priceIncrease, .gracePeriod, .pending, .accepted, .billingRecovery, .productNotForSale,
    .summary, .failure, .unreported, .created, .activeTokenReminder, .seats, .increaseQuantity,
    .decreaseQuantity,
  ]

  package var rawValue: String {
    switch self {
    case .initialBuy: "INITIAL_BUY"
    case .resubscribe: "RESUBSCRIBE"
    case .downgrade: "DOWNGRADE"
    case .upgrade: "UPGRADE"
    case .autoRenewEnabled: "AUTO_RENEW_ENABLED"
    case .autoRenewDisabled: "AUTO_RENEW_DISABLED"
    case .voluntary: "VOLUNTARY"
    case .billingRetry: "BILLING_RETRY"
    case .priceIncrease: "PRICE_INCREASE"
    case .gracePeriod: "GRACE_PERIOD"
    case .pending: "PENDING"
    case .accepted: "ACCEPTED"
    case .billingRecovery: "BILLING_RECOVERY"
    case .productNotForSale: "PRODUCT_NOT_FOR_SALE"
    case .summary: "SUMMARY"
    case .failure: "FAILURE"
    case .unreported: "UNREPORTED"
    case .created: "CREATED"
    case .activeTokenReminder: "ACTIVE_TOKEN_REMINDER"
    case .seats: "SEATS"
    case .increaseQuantity: "INCREASE_QUANTITY"
    case .decreaseQuantity: "DECREASE_QUANTITY"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The type of a version 1 notification (Apple's `notification_type`).
package enum NotificationTypeV1: OpenCode {
  /// A subscription was refunded by Apple Support, or an upgrade cut the period.
  case cancel
  case consumptionRequest
  case didChangeRenewalPref
  case didChangeRenewalStatus
  case didFailToRenew
  case didRecover
  case didRenew
  case initialBuy
  /// A resubscription or an upgrade.
  case interactiveRenewal
  case priceIncreaseConsent
  case refund
  case revoke
  /// The name of `DID_RECOVER` until March 2021.
  case renewal
  case unrecognized(String)

  package static let known: [NotificationTypeV1] = [
    .cancel, .consumptionRequest, .didChangeRenewalPref, .didChangeRenewalStatus, .didFailToRenew,
    .didRecover, .didRenew, .initialBuy, .interactiveRenewal, .priceIncreaseConsent, .refund, .revoke,
    .renewal,
  ]

  package var rawValue: String {
    switch self {
    case .cancel: "CANCEL"
    case .consumptionRequest: "CONSUMPTION_REQUEST"
    case .didChangeRenewalPref: "DID_CHANGE_RENEWAL_PREF"
    case .didChangeRenewalStatus: "DID_CHANGE_RENEWAL_STATUS"
    case .didFailToRenew: "DID_FAIL_TO_RENEW"
    case .didRecover: "DID_RECOVER"
    case .didRenew: "DID_RENEW"
    case .initialBuy: "INITIAL_BUY"
    case .interactiveRenewal: "INTERACTIVE_RENEWAL"
    case .priceIncreaseConsent: "PRICE_INCREASE_CONSENT"
    case .refund: "REFUND"
    case .revoke: "REVOKE"
    case .renewal: "RENEWAL"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
