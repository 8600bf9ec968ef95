package import AppStore
package import AppStoreClient
internal import Synchronization

/// The DeviceCheck clients: one for each app and environment that has a key.
package final class DeviceCheckClients: Sendable {
  /// An app in an environment.
  private struct Target: Hashable, Sendable {
    let appID: String
    let environment: Environment
  }

  private let clients = Mutex<[Target: DeviceCheckClient]>([:])

  /// Creates an empty set, with which Apple is never called.
  package init() {}

  /// Adds the client of an app in an environment.
  package func add(_ client: DeviceCheckClient, appID: String, environment: Environment) {
    clients.withLock { $0[Target(appID: appID, environment: environment)] = client }
  }

  /// Returns the client of an app in an environment.
  ///
  /// - Throws: ``DeviceCheckError/noKey(appID:environment:)``.
  package func client(
    for appID: String, in environment: Environment
  ) throws(DeviceCheckError) -> DeviceCheckClient {
    guard let client = clients.withLock({ $0[Target(appID: appID, environment: environment)] }) else {
      throw .noKey(appID: appID, environment: environment)
    }
    return client
  }

  /// Adopts the keys of `others`, which were read again: adds and removes clients, and keeps the rate limits of the
  /// others.
  package func adoptKeys(of others: DeviceCheckClients) {
    let others = others.clients.withLock { $0 }
    clients.withLock { clients in
      clients = others.merging(clients.filter { others[$0.key] != nil }) { other, current in
        current.adoptCredentials(of: other)
        return current
      }
    }
  }
}

extension AppStoreServer {
  /// Apple's DeviceCheck server of an environment ("Accessing and modifying per-device data"); `nil` for environments that
  /// exist on a developer's machine only.
  package init?(deviceCheck environment: Environment) {
    switch environment {
    case .production: self.init(baseURL: "https://api.devicecheck.apple.com")
    case .sandbox: self.init(baseURL: "https://api.development.devicecheck.apple.com")
    case .xcode, .localTesting: return nil
    }
  }
}
