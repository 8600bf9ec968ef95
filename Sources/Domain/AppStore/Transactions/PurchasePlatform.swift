/// The platform on which an app was first bought (Apple's `originalPlatform`).
package enum PurchasePlatform: OpenCode {
  case iOS
  case macOS
  case tvOS
  case visionOS
  case unrecognized(String)

  package static let known: [PurchasePlatform] = [.iOS, .macOS, .tvOS, .visionOS]

  package var rawValue: String {
    switch self {
    case .iOS: "iOS"
    case .macOS: "macOS"
    case .tvOS: "tvOS"
    case .visionOS: "visionOS"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
