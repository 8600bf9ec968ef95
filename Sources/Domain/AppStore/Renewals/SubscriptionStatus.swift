/// How a subscription stands (Apple's `status`).
package enum SubscriptionStatus: OpenCode {
  case active
  case expired
  case billingRetry
  case billingGracePeriod
  case revoked
  case unrecognized(Int64)

  package static let known: [SubscriptionStatus] = [
    .active, .expired, .billingRetry, .billingGracePeriod, .revoked,
  ]

  package var rawValue: Int64 {
    switch self {
    case .active: 1
    case .expired: 2
    case .billingRetry: 3
    case .billingGracePeriod: 4
    case .revoked: 5
    case .unrecognized(let rawValue): rawValue
    }
  }
}
