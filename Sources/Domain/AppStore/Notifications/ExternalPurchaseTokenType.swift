/// What an external purchase token is for (Apple's `tokenType`).
package enum ExternalPurchaseTokenType: OpenCode {
  case acquisition
  case services
  case unrecognized(String)

  package static let known: [ExternalPurchaseTokenType] = [.acquisition, .services]

  package var rawValue: String {
    switch self {
    case .acquisition: "ACQUISITION"
    case .services: "SERVICES"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
