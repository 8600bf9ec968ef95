/// Whether a subscription renews at the end of its period (Apple's `autoRenewStatus`).
package enum AutoRenewStatus: OpenCode {
  case off
  case on
  case unrecognized(Int64)

  package static let known: [AutoRenewStatus] = [.off, .on]

  package var rawValue: Int64 {
    switch self {
    case .off: 0
    case .on: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}
