/// Whether the customer consented to a higher price (Apple's `priceIncreaseStatus`).
package enum PriceIncreaseStatus: OpenCode {
  /// Asked, not answered yet.
  case pending
  /// Agreed, or consent was not needed.
  case accepted
  case unrecognized(Int64)

  package static let known: [PriceIncreaseStatus] = [.pending, .accepted]

  package var rawValue: Int64 {
    switch self {
    case .pending: 0
    case .accepted: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}
