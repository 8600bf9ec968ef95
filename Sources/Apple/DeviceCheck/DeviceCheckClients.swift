package import AppStore
package import AppStoreClient

/// The clients of DeviceCheck.
package typealias DeviceCheckClients = AppleClients<DeviceCheckClient>

extension AppleClients<DeviceCheckClient> {
  /// Returns the client of an app in an environment.
  ///
  /// - Throws: ``DeviceCheckError/noKey(appID:environment:)``.
  package func client(
    for appID: String, in environment: Environment
  ) throws(DeviceCheckError) -> DeviceCheckClient {
    guard let client = self[appID, environment] else {
      throw .noKey(appID: appID, environment: environment)
    }
    return client
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
