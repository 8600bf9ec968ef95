/// Whether an order id is one of the app's (Apple's `status` of Look Up Order ID).
package enum OrderLookupStatus: OpenCode {
  case valid
  case invalid
  case unrecognized(Int64)

  package static let known: [OrderLookupStatus] = [.valid, .invalid]

  package var rawValue: Int64 {
    switch self {
    case .valid: 0
    case .invalid: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}
