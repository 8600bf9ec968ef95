/// What Apple calls one app.
package struct AppIdentity: Hashable, Sendable {
  /// The bundle identifier, such as `com.example.app`.
  package let bundleID: String
  /// The app's number in the App Store; `nil` if the operator did not say, and then it is not compared.
  package let appAppleID: Int64?

  /// An app by its bundle identifier and, if known, its App Store number.
  package init(bundleID: String, appAppleID: Int64?) {
    self.bundleID = bundleID
    self.appAppleID = appAppleID
  }
}

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
