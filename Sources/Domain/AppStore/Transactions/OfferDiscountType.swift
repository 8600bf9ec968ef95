/// How an offer is paid for (Apple's `offerDiscountType`).
package enum OfferDiscountType: OpenCode {
  case freeTrial
  case payAsYouGo
  case payUpFront
  case oneTime
  case unrecognized(String)

  package static let known: [OfferDiscountType] = [.freeTrial, .payAsYouGo, .payUpFront, .oneTime]

  package var rawValue: String {
    switch self {
    case .freeTrial: "FREE_TRIAL"
    case .payAsYouGo: "PAY_AS_YOU_GO"
    case .payUpFront: "PAY_UP_FRONT"
    case .oneTime: "ONE_TIME"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
