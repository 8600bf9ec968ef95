package import AppStore

/// One configured app in one of Apple's environments.
package struct AppEnvironment: Hashable, Sendable {
  /// The operator's name for the app, as the catalog has it.
  package let appID: String
  package let environment: Environment

  package init(appID: String, environment: Environment) {
    self.appID = appID
    self.environment = environment
  }
}
