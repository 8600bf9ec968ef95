/// How an item's price increase stands (Apple's `status`).
package enum AdvancedCommercePriceIncreaseStatus: OpenCode {
  case scheduled
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
