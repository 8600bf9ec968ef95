package import AppStore
package import AppStoreClient

/// The clients with which Apple is asked, one for each app and environment that has a key.
package struct AppStoreClients: Sendable {
  private struct Key: Hashable {
    let appID: String
    let environment: Environment
  }

  private var clients: [Key: AppStoreServerClient] = [:]

  /// No clients: Apple is never asked.
  package init() {}

  /// The client of an app in an environment; `nil` if Apple cannot be asked there.
  package subscript(appID: String, environment: Environment) -> AppStoreServerClient? {
    get { clients[Key(appID: appID, environment: environment)] }
    set { clients[Key(appID: appID, environment: environment)] = newValue }
  }
}
