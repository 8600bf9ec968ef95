package import CustomerImport
package import SignedData
internal import Synchronization

/// The settings by which an app receives and compares RevenueCat's events while both systems run side by side.
package struct RevenueCatSettings: Sendable {
  /// The value of the header `authorization` that RevenueCat sends.
  package let authorization: SharedSecret
  /// The secret with which RevenueCat signs; `nil` checks no signature.
  package let signingSecret: SharedSecret?
  /// The names of RevenueCat's entitlements here, and the tolerance of differences.
  package let comparison: AccessComparison
  /// The number of days after which events are deleted, from their arrival.
  package let retentionDays: Int64
  /// The number of days for an app that receives no events any more.
  package static let standardRetentionDays: Int64 = 400

  /// Creates settings from their parts.
  package init(
    authorization: SharedSecret, signingSecret: SharedSecret?, comparison: AccessComparison,
    retentionDays: Int64
  ) {
    self.authorization = authorization
    self.signingSecret = signingSecret
    self.comparison = comparison
    self.retentionDays = retentionDays
  }
}

/// The settings of all apps, by app id. A reload replaces them; a request that has read the old ones finishes with
/// them.
package final class CurrentRevenueCatSettings: Sendable {
  private let settings: Mutex<[String: RevenueCatSettings]>

  /// Starts with `settings`; apps that receive no events are absent.
  package init(_ settings: [String: RevenueCatSettings]) { self.settings = Mutex(settings) }

  /// The settings of an app; `nil` if it receives no events.
  package subscript(appID: String) -> RevenueCatSettings? { settings.withLock { $0[appID] } }

  /// The settings of all apps.
  package var all: [String: RevenueCatSettings] { settings.withLock { $0 } }

  /// Puts other settings in force.
  package func replace(with settings: [String: RevenueCatSettings]) {
    self.settings.withLock { $0 = settings }
  }
}
