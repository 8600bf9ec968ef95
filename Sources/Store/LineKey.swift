package import AppStore

/// One purchase line of one app in one environment: a subscription with its renewals, or one purchase.
package struct LineKey: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Where the purchases were made; environments never mix.
  package let environment: Environment
  /// Apple's number, the same in every transaction of the line.
  package let originalTransactionID: String

  /// A line by app, environment and Apple's number.
  package init(appID: String, environment: Environment, originalTransactionID: String) {
    self.appID = appID
    self.environment = environment
    self.originalTransactionID = originalTransactionID
  }
}
