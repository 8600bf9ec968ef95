/// The type of a version 2 notification (Apple's `notificationType`).
package enum NotificationTypeV2: OpenCode {
  /// A customer subscribed for the first time (`INITIAL_BUY`) or again (`RESUBSCRIBE`), or got access by Family
  /// Sharing.
  case subscribed
  /// The customer changed the product of the subscription: an upgrade (`UPGRADE`) counts at once, a downgrade
  /// (`DOWNGRADE`) at the next renewal; without a subtype, a downgrade was taken back.
  case didChangeRenewalPref
  /// Auto-renew was turned on or off (`AUTO_RENEW_ENABLED`, `AUTO_RENEW_DISABLED`); Apple turns it off with a refund.
  case didChangeRenewalStatus
  /// The customer redeemed an offer for a subscription.
  case offerRedeemed
  /// The next period was paid; with `BILLING_RECOVERY` after a failed payment.
  case didRenew
  /// A subscription ended; the subtype is the cause.
  case expired
  /// A payment failed: with `GRACE_PERIOD` access continues, without a subtype it does not.
  case didFailToRenew
  /// The grace period ended without a payment; access ends, and Apple retries the payment.
  case gracePeriodExpired
  /// Apple told the customer about a price increase; `PENDING` awaits consent, `ACCEPTED` has it or needs none.
  case priceIncrease
  /// Apple refunded a transaction; the transaction has the date.
  case refund
  /// Apple declined a refund that the app or the customer had requested.
  case refundDeclined
  /// Apple reversed a refund, because the customer disputed it; what it took back is to be given again.
  case refundReversed
  /// The customer asked for a refund, and Apple asks for consumption information within 12 hours.
  case consumptionRequest
  /// One renewal date was extended.
  case renewalExtended
  /// A mass extension completed, or one of its extensions failed.
  case renewalExtension
  /// A family member lost shared access.
  case revoke
  /// A consumable, a non-consumable or a non-renewing subscription was bought, also by Family Sharing.
  case oneTimeCharge
  /// A parent or guardian withdrew consent for the app.
  case rescindConsent
  /// A token for purchases outside the App Store was created or is to be reported; there is no transaction.
  case externalPurchaseToken
  /// The metadata of an Advanced Commerce subscription changed.
  case metadataUpdate
  /// A subscription was migrated to Advanced Commerce.
  case migration
  /// The same, under the name in Apple's changelog.
  case migrate
  /// The price of an Advanced Commerce subscription changed.
  case priceChange
  /// Apple released seats of a group subscription.
  case unclaimSeats
  /// The operator requested it (Request a Test Notification); there is no transaction.
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
  /// With `SUBSCRIBED`: the customer never had a product of the subscription group.
  case initialBuy
  /// With `SUBSCRIBED`: the customer had a product of the subscription group before.
  case resubscribe
  /// With `DID_CHANGE_RENEWAL_PREF` and `OFFER_REDEEMED`: a lower level, or the same one with another duration, from
  /// the next renewal on.
  case downgrade
  /// With `DID_CHANGE_RENEWAL_PREF` and `OFFER_REDEEMED`: a higher level, or the same one with the same duration, at
  /// once.
  case upgrade
  /// With `DID_CHANGE_RENEWAL_STATUS`: auto-renew was turned on.
  case autoRenewEnabled
  /// With `DID_CHANGE_RENEWAL_STATUS`: auto-renew was turned off, by the customer or by Apple after a request for a
  /// refund.
  case autoRenewDisabled
  /// With `EXPIRED`: the customer had turned auto-renew off.
  case voluntary
  /// With `EXPIRED`: Apple could not collect the payment in the time of billing retry.
  case billingRetry
  /// With `EXPIRED`: the customer did not consent to a price increase.
  case priceIncrease
  /// With `DID_FAIL_TO_RENEW`: access continues in the grace period.
  case gracePeriod
  /// With `PRICE_INCREASE`: the customer has not answered.
  case pending
  /// With `PRICE_INCREASE`: the customer consented, or no consent is required.
  case accepted
  /// With `DID_RENEW`: the payment succeeded after it had failed.
  case billingRecovery
  /// With `EXPIRED`: the product could not be bought at the renewal.
  case productNotForSale
  /// With `RENEWAL_EXTENSION`: a mass extension is complete; the notification has its counts.
  case summary
  /// With `RENEWAL_EXTENSION`: the renewal date of one subscription was not extended.
  case failure
  /// With `EXTERNAL_PURCHASE_TOKEN`: the report of the token is overdue.
  case unreported
  /// With `EXTERNAL_PURCHASE_TOKEN`: the app asked for the token.
  case created
  /// With `EXTERNAL_PURCHASE_TOKEN`: the token is still in force, and its purchases are to be reported.
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
  /// The customer asked for a refund of a consumable.
  case consumptionRequest
  /// Another product is planned for the next renewal.
  case didChangeRenewalPref
  /// Auto-renew was turned on or off.
  case didChangeRenewalStatus
  /// A payment failed; Apple retries it.
  case didFailToRenew
  /// Apple collected a payment that had failed.
  case didRecover
  /// The next period was paid.
  case didRenew
  /// The first purchase of a subscription.
  case initialBuy
  /// A resubscription or an upgrade.
  case interactiveRenewal
  /// Apple asked the customer for consent to a price increase.
  case priceIncreaseConsent
  /// Apple refunded a purchase.
  case refund
  /// Family Sharing of a purchase ended.
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
