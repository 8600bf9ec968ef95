/// An app that became free: who got it before some version paid for it, and keeps what they paid for
/// (WWDC18-704).
package struct BoughtBeforeVersion: Hashable, Sendable {
  /// The first version that was free.
  package let version: AppVersion
  /// What everybody has who got an earlier one.
  package let entitlements: [String: AccessLevel]

  /// A rule by its parts.
  package init(version: AppVersion, entitlements: [String: AccessLevel]) {
    self.version = version
    self.entitlements = entitlements
  }
}
