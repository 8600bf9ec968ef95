/// The reason for an offer on an item (Apple's offer `reason`).
package enum AdvancedCommerceOfferReason: OpenCode {
  /// For customers who never had the item.
  case acquisition
  /// For customers who had the item and left.
  case winBack
  /// For customers who are about to leave.
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
  /// Consent was given or is not required.
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
  /// The customer did not mean to buy the item.
  case unintendedPurchase
  /// The customer did not get the item, or it did not work.
  case fulfillmentIssue
  /// The customer does not like the item.
  case unsatisfiedWithPurchase
  /// A legal reason.
  case legal
  /// Any other reason.
  case other
  /// The item was removed or replaced by a change of the subscription.
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
  /// The whole price.
  case full
  /// The part for the time that is left.
  case prorated
  /// The amount in `refundAmount`.
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
