package import AppStore
internal import Synchronization

/// A client of one of Apple's servers whose key can be replaced while it runs.
package protocol AppleClient: AnyObject, Sendable {
  /// Signs with the credentials of `other` from the next call on; the state of Apple's rate limits stays.
  func adoptCredentials(of other: Self)
}

/// The clients of the App Store Server API.
package typealias AppStoreClients = AppleClients<AppStoreServerClient>

/// The clients of one of Apple's servers: one for each app and environment that has a key.
package final class AppleClients<Client: AppleClient>: Sendable {
  private let clients = Mutex<[AppEnvironment: Client]>([:])

  /// The apps and environments that have a client, in no particular order.
  package var targets: [AppEnvironment] { clients.withLock { Array($0.keys) } }

  /// Creates an empty set, with which Apple is never called.
  package init() {}

  /// The client of an app in an environment; `nil` if there is none.
  package subscript(appID: String, environment: Environment) -> Client? {
    get { clients.withLock { $0[AppEnvironment(appID: appID, environment: environment)] } }
    set { clients.withLock { $0[AppEnvironment(appID: appID, environment: environment)] = newValue } }
  }

  /// Adopts the keys of `others`, which were read again: adds and removes clients, and keeps the rate limits of the
  /// others.
  package func adoptKeys(of others: AppleClients) {
    let others = others.clients.withLock { $0 }
    clients.withLock { clients in
      clients = others.merging(clients.filter { others[$0.key] != nil }) { other, current in
        current.adoptCredentials(of: other)
        return current
      }
    }
  }
}
