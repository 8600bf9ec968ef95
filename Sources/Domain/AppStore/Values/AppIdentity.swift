/// An app's identity at Apple.
package struct AppIdentity: Hashable, Sendable {
  /// The bundle identifier, such as `com.example.app`.
  package let bundleID: String
  /// The app's App Store id (`appAppleId`); `nil` if it is not configured, and then it is not compared.
  package let appAppleID: Int64?

  package init(bundleID: String, appAppleID: Int64?) {
    self.bundleID = bundleID
    self.appAppleID = appAppleID
  }
}

/// The environment of a purchase (Apple's `environment`). Data of different environments never mixes. The raw
/// values are Apple's and are stored.
package enum Environment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"
  /// StoreKit testing in Xcode: signed by Xcode on the developer's machine, not by Apple.
  case xcode = "Xcode"
  /// StoreKit testing outside Xcode: not signed by Apple.
  case localTesting = "LocalTesting"

  /// Compares cases: the default compares and hashes the raw values, which are texts, for each use of a key.
  @inlinable
  package static func == (left: Self, right: Self) -> Bool { left.number == right.number }

  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(number) }

  /// Distinguishes the cases in memory, to compare and hash them. Stored data has the raw values.
  @usableFromInline
  package var number: UInt8 {
    switch self {
    case .production: 0
    case .sandbox: 1
    case .xcode: 2
    case .localTesting: 3
    }
  }

  /// Whether Apple signs data of this environment.
  package var isSignedByApple: Bool {
    switch self {
    case .production, .sandbox: true
    case .xcode, .localTesting: false
    }
  }

  /// The days that Apple's notification history goes back (Apple: NotificationHistoryRequest: "the past 180 days in the
  /// production environment, and the past 30 days in the sandbox environment").
  package var notificationHistoryDays: Int64 { self == .production ? 180 : 30 }
}

/// One configured app in one of Apple's environments.
package struct AppEnvironment: Hashable, Sendable {
  /// The operator's name for the app, as in the catalog.
  package let appID: String
  package let environment: Environment

  package init(appID: String, environment: Environment) {
    self.appID = appID
    self.environment = environment
  }
}
