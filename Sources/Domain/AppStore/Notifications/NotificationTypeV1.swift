/// What happened, in version 1 of the App Store Server Notifications (Apple's `notification_type`).
package enum NotificationTypeV1: OpenCode {
  /// Apple's support refunded a subscription, or an upgrade cut the period off.
  case cancel
  case consumptionRequest
  case didChangeRenewalPref
  case didChangeRenewalStatus
  case didFailToRenew
  case didRecover
  case didRenew
  case initialBuy
  /// Came back, or upgraded.
  case interactiveRenewal
  case priceIncreaseConsent
  case refund
  case revoke
  /// What `DID_RECOVER` was called until March 2021.
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
