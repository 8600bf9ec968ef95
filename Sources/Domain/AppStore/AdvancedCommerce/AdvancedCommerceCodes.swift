/// The reason for an offer on an item (Apple's offer `reason`).
package enum AdvancedCommerceOfferReason: OpenCode {
  case acquisition
  case winBack
  case retention
  case unrecognized(String)

  package static let known: [AdvancedCommerceOfferReason] = [.acquisition, .winBack, .retention]

  package var rawValue: String {
    switch self {
    case .acquisition: "ACQUISITION"
    case .winBack: "WIN_BACK"
    case .retention: "RETENTION"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The state of an item's price increase (Apple's `status`).
package enum AdvancedCommercePriceIncreaseStatus: OpenCode {
  /// Not announced to the customer yet.
  case scheduled
  /// Consent was requested and not given yet.
  case pending
  case accepted
  case unrecognized(String)

  package static let known: [AdvancedCommercePriceIncreaseStatus] = [.scheduled, .pending, .accepted]

  package var rawValue: String {
    switch self {
    case .scheduled: "SCHEDULED"
    case .pending: "PENDING"
    case .accepted: "ACCEPTED"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The reason of an item's refund (Apple's `refundReason`).
package enum AdvancedCommerceRefundReason: OpenCode {
  case unintendedPurchase
  case fulfillmentIssue
  case unsatisfiedWithPurchase
  case legal
  case other
  case modifyItemsRefund
  /// In Apple's sandbox only: Apple declines the refund.
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

/// The kind of an item's refund (Apple's `refundType`).
package enum AdvancedCommerceRefundType: OpenCode {
  case full
  case prorated
  case custom
  case unrecognized(String)

  package static let known: [AdvancedCommerceRefundType] = [.full, .prorated, .custom]

  package var rawValue: String {
    switch self {
    case .full: "FULL"
    case .prorated: "PRORATED"
    case .custom: "CUSTOM"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
