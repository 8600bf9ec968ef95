/// Why an item is offered for less (Apple's offer `reason`).
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
