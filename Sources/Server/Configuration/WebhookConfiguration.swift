package import AppStore
package import Entitlements

/// A receiver of an app's events, or of Apple's notifications about it.
package struct WebhookConfiguration: Hashable, Sendable {
  /// The operator's name for it, which the service remembers its progress by.
  package let name: String
  /// Where to: https, unless the machine is this one or the operator said otherwise.
  package let url: String
  /// What signs; empty where Apple's notifications go out as they came. Two while the secret is changed.
  package let secrets: [SecretSource]
  /// Which events; empty: all.
  package let kinds: Set<EntitlementChange.Kind>
  /// Of which environments; empty: all.
  package let environments: Set<Environment>
  /// Seconds between the attempts; `nil`: as Standard Webhooks suggests.
  package let retrySeconds: [Int64]?
  /// How many customers' messages are on their way at a time.
  package let concurrency: Int
}
