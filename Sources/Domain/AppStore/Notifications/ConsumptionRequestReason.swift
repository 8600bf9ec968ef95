/// Why a customer asks for a refund (Apple's `consumptionRequestReason`).
package enum ConsumptionRequestReason: OpenCode {
  case unintendedPurchase
  case fulfillmentIssue
  case unsatisfiedWithPurchase
  case legal
  case other
  case unrecognized(String)

  package static let known: [ConsumptionRequestReason] = [
    .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other,
  ]

  package var rawValue: String {
    switch self {
    case .unintendedPurchase: "UNINTENDED_PURCHASE"
    case .fulfillmentIssue: "FULFILLMENT_ISSUE"
    case .unsatisfiedWithPurchase: "UNSATISFIED_WITH_PURCHASE"
    case .legal: "LEGAL"
    case .other: "OTHER"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
