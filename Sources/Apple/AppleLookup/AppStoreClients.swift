package import AppStore
package import AppStoreClient

/// The clients with which Apple is asked, one for each app and environment that has a key.
package struct AppStoreClients: Sendable {
  private struct Key: Hashable {
    let appID: String
    let environment: Environment
  }

  private var clients: [Key: AppStoreServerClient] = [:]

  /// Where Apple can be asked, in no particular order.
  package var appEnvironments: [(appID: String, environment: Environment)] {
    clients.keys.map { ($0.appID, $0.environment) }
  }

  /// No clients: Apple is never asked.
  package init() {}

  /// The client of an app in an environment; `nil` if Apple cannot be asked there.
  package subscript(appID: String, environment: Environment) -> AppStoreServerClient? {
    get { clients[Key(appID: appID, environment: environment)] }
    set { clients[Key(appID: appID, environment: environment)] = newValue }
  }
}
