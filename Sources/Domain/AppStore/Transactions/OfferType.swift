/// The kind of offer a subscription period was bought with (Apple's `offerType`).
package enum OfferType: OpenCode {
  case introductory
  case promotional
  case offerCode
  case winBack
  case unrecognized(Int64)

  package static let known: [OfferType] = [.introductory, .promotional, .offerCode, .winBack]

  package var rawValue: Int64 {
    switch self {
    case .introductory: 1
    case .promotional: 2
    case .offerCode: 3
    case .winBack: 4
    case .unrecognized(let rawValue): rawValue
    }
  }
}
