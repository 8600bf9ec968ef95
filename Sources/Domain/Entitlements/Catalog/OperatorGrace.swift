/// What the operator lets customers have while the App Store retries a payment that failed, on top of Apple's
/// own grace period (WWDC18-705).
package struct OperatorGrace: Hashable, Sendable {
  /// Days from the end of the paid period on; at least 1.
  package let days: Int64
  /// How much of the entitlements goes on.
  package let access: AccessLevel

  /// So many days of so much.
  package init(days: Int64, access: AccessLevel) {
    self.days = days
    self.access = access
  }
}
