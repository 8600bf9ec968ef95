/// Why a subscription expired (Apple's `expirationIntent`).
package enum ExpirationIntent: OpenCode {
  case customerCancelled
  case billingError
  case priceIncreaseNotAccepted
  case productUnavailable
  case other
  case unrecognized(Int64)

  package static let known: [ExpirationIntent] = [
    .customerCancelled, .billingError, .priceIncreaseNotAccepted, .productUnavailable, .other,
  ]

  package var rawValue: Int64 {
    switch self {
    case .customerCancelled: 1
    case .billingError: 2
    case .priceIncreaseNotAccepted: 3
    case .productUnavailable: 4
    case .other: 5
    case .unrecognized(let rawValue): rawValue
    }
  }
}
