package import AppStore

/// One customer of one app in one environment.
package struct CustomerKey: Hashable, Sendable {
  /// The operator's name for the app.
  package let appID: String
  /// Where the purchases were made; environments never mix.
  package let environment: Environment
  /// The operator's name for the customer.
  package let customerID: String

  /// A customer by app, environment and the operator's name.
  package init(appID: String, environment: Environment, customerID: String) {
    self.appID = appID
    self.environment = environment
    self.customerID = customerID
  }

  /// A line of the same app and environment.
  package func line(_ originalTransactionID: String) -> LineKey {
    LineKey(appID: appID, environment: environment, originalTransactionID: originalTransactionID)
  }
}
