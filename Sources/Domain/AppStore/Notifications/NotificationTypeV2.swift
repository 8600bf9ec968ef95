/// What happened, in version 2 of the App Store Server Notifications (Apple's `notificationType`).
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
  /// The date of one renewal was moved.
  case renewalExtended
  /// The dates of many renewals were moved, or one of these failed.
  case renewalExtension
  /// A family member lost what was shared.
  case revoke
  case oneTimeCharge
  /// A parent withdrew the consent for the app.
  case rescindConsent
  case externalPurchaseToken
  case metadataUpdate
  /// A subscription moved to Advanced Commerce.
  case migration
  /// The same under the name that Apple's change log gives it.
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
