package import AppStore
package import AppStoreClient
package import Store

/// The App Store Server API clients: one for each app and environment that has an in-app purchase key.
package struct AppStoreClients: Sendable {
  private var clients: [AppEnvironment: AppStoreServerClient] = [:]

  /// The apps and environments that have a client, in no particular order.
  package var appEnvironments: [AppEnvironment] { Array(clients.keys) }

  /// Creates an empty set, with which the App Store is never called.
  package init() {}

  /// The client of an app in an environment; `nil` if there is none.
  package subscript(appID: String, environment: Environment) -> AppStoreServerClient? {
    get { clients[AppEnvironment(appID: appID, environment: environment)] }
    set { clients[AppEnvironment(appID: appID, environment: environment)] = newValue }
  }
}
