/// How much of an item was refunded (Apple's `refundType`).
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
