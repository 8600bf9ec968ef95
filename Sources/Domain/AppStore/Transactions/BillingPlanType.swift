/// How a subscription with a commitment is billed (Apple's `billingPlanType`).
package enum BillingPlanType: OpenCode {
  case billedUpfront
  case monthly
  case unrecognized(String)

  package static let known: [BillingPlanType] = [.billedUpfront, .monthly]

  package var rawValue: String {
    switch self {
    case .billedUpfront: "BILLED_UPFRONT"
    case .monthly: "MONTHLY"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
