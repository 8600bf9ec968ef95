/// Why an item was refunded (Apple's `refundReason`).
package enum AdvancedCommerceRefundReason: OpenCode {
  case unintendedPurchase
  case fulfillmentIssue
  case unsatisfiedWithPurchase
  case legal
  case other
  case modifyItemsRefund
  case simulateRefundDecline
  case unrecognized(String)

  package static let known: [AdvancedCommerceRefundReason] = [
    .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other, .modifyItemsRefund,
    .simulateRefundDecline,
  ]

  package var rawValue: String {
    switch self {
    case .unintendedPurchase: "UNINTENDED_PURCHASE"
    case .fulfillmentIssue: "FULFILLMENT_ISSUE"
    case .unsatisfiedWithPurchase: "UNSATISFIED_WITH_PURCHASE"
    case .legal: "LEGAL"
    case .other: "OTHER"
    case .modifyItemsRefund: "MODIFY_ITEMS_REFUND"
    case .simulateRefundDecline: "SIMULATE_REFUND_DECLINE"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
