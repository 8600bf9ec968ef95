/// The rules by which an app without a backend exchanges its signed documents for a token.
package struct DeviceSyncPolicy: Hashable, Sendable {
  /// The treatment of installations over the limit. The raw values are configuration values.
  package enum Excess: String, Hashable, Sendable, CaseIterable {
    /// They get no token.
    case refuse
    /// They get a token, and the operator a report.
    case report
  }

  /// The maximum number of different installations per purchase and day (UTC).
  package let maxInstallations: Int
  package let excess: Excess

  package init(maxInstallations: Int, excess: Excess = .refuse) {
    self.maxInstallations = maxInstallations
    self.excess = excess
  }
}
