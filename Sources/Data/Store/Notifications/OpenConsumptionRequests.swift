package import AppStore

/// How many of Apple's questions of one app and environment can still be answered.
package struct OpenConsumptionRequests: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Where the purchases were made.
  package let environment: Environment
  /// At least 1.
  package let count: Int64

  /// A count by its parts.
  package init(appID: String, environment: Environment, count: Int64) {
    self.appID = appID
    self.environment = environment
    self.count = count
  }
}
