/// What happened exactly (Apple's `subtype`, version 2).
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
  /// Of a refund: some seats only, the purchase stays.
  case seats
  /// More seats.
  case increaseQuantity
  /// Fewer seats at the next renewal.
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
