package import AppStore
package import AppStoreClient
package import Store
internal import Synchronization

/// The App Store Server API clients: one for each app and environment that has an in-app purchase key.
package final class AppStoreClients: Sendable {
  private let clients = Mutex<[AppEnvironment: AppStoreServerClient]>([:])

  /// The apps and environments that have a client, in no particular order.
  package var appEnvironments: [AppEnvironment] { clients.withLock { Array($0.keys) } }

  /// Creates an empty set, with which the App Store is never called.
  package init() {}

  /// The client of an app in an environment; `nil` if there is none.
  package subscript(appID: String, environment: Environment) -> AppStoreServerClient? {
    get { clients.withLock { $0[AppEnvironment(appID: appID, environment: environment)] } }
    set { clients.withLock { $0[AppEnvironment(appID: appID, environment: environment)] = newValue } }
  }

  /// Adopts the keys of `others`, which were read again: adds and removes clients, and keeps the rate limits of the
  /// others.
  package func adoptKeys(of others: AppStoreClients) {
    let others = others.clients.withLock { $0 }
    clients.withLock { clients in
      clients = others.merging(clients.filter { others[$0.key] != nil }) { other, current in
        current.adoptCredentials(of: other)
        return current
      }
    }
  }
}
