/// Where a purchase was made. Data of one environment never mixes with data of another.
package enum Environment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  /// StoreKit testing in Xcode: signed by Xcode on the developer's machine, not by Apple.
  case xcode = "Xcode"
  /// StoreKit testing outside Xcode: not signed by Apple either.
  case localTesting = "LocalTesting"

  /// Whether data of this environment carries Apple's signature.
  package var isSignedByApple: Bool {
    switch self {
    case .production, .sandbox: true
    case .xcode, .localTesting: false
    }
  }
}
