internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Notifications
internal import Reconciliation
internal import Sandbox
internal import SignedData
internal import Telemetry

extension Startup {
  /// What asks Apple, for each app that has a key; and the embedded sandbox for all, with a key made for it.
  static func clients(
    _ configuration: ServiceConfiguration, sandbox: EmbeddedSandbox?
  ) throws -> AppStoreClients {
    var clients = AppStoreClients()
    for app in configuration.apps {
      for environment in app.definition.environments {
        let embedded = environment == .sandbox && app.servers[.sandbox] == nil ? sandbox : nil
        guard let server = server(of: app, in: environment, embedded) else { continue }
        guard let credentials = try credentials(of: app, isEmbedded: embedded != nil) else { continue }
        // The sandbox's clock may be another one than the machine's.
        let now =
          embedded.map { sandbox in { @Sendable in sandbox.simulator.clock.now() } } ?? SystemClock.now
        clients[app.definition.id, environment] = AppStoreServerClient(
          app: app.definition.identity, environment: environment, server: server,
          tokens: ServerAPITokenSource(credentials: credentials, now: now),
          exchange: AsyncHTTPExchange.shared, clock: .system(now: now))
      }
    }
    return clients
  }

  private static func server(
    of app: AppConfiguration, in environment: AppStore.Environment, _ sandbox: EmbeddedSandbox?
  ) -> AppStoreServer? {
    if let url = app.servers[environment] { return AppStoreServer(baseURL: url) }
    // Apple's limits are for machines' hours, and the sandbox's pass as fast as its clock is turned.
    if let sandbox { return AppStoreServer(baseURL: sandbox.baseURL, rateLimitShare: 1000) }
    return AppStoreServer(environment)
  }

  /// `nil` if the app has no key, without which Apple answers nothing. The embedded sandbox takes any.
  private static func credentials(
    of app: AppConfiguration, isEmbedded: Bool
  ) throws -> AppStoreCredentials? {
    let bundleID = app.definition.identity.bundleID
    if let key = app.key {
      do {
        return AppStoreCredentials(
          issuerID: key.issuerID, bundleID: bundleID, signer: try signer(with: key))
      } catch {
        throw Failure("\(error)")
      }
    }
    guard isEmbedded else { return nil }
    return AppStoreCredentials(
      issuerID: "00000000-0000-0000-0000-000000000000", bundleID: bundleID,
      signer: try JWTSigner(key: .generate(.p256), keyID: "EMBEDDED00"))
  }

  /// What is done where Apple's notifications do not arrive, by the operator's names for the apps.
  static func followUps(_ configuration: ServiceConfiguration) -> [String: ReconciliationPolicy] {
    Dictionary(
      uniqueKeysWithValues: configuration.apps.map { app in
        (
          app.definition.id,
          ReconciliationPolicy(
            pollsStatuses: app.pollsStatuses, repairsGaps: app.repairsGaps,
            fullPollInterval: app.fullPollInterval)
        )
      })
  }

  /// What notifications of version 1 are known by, for the apps that take them.
  static func secrets(_ configuration: ServiceConfiguration) throws -> [String: SharedSecret] {
    var secrets: [String: SharedSecret] = [:]
    for app in configuration.apps {
      guard let text = try sharedSecret(of: app) else { continue }
      secrets[app.definition.id] = SharedSecret(text)
    }
    return secrets
  }

  /// `nil` if the app has none.
  static func sharedSecret(of app: AppConfiguration) throws -> String? {
    try app.sharedSecret.map(text)
  }

  /// A secret that the configuration names; it is not empty.
  static func text(of source: SecretSource) throws -> String {
    switch source {
    case .file(let path):
      let text: String
      do { text = try PrivateKeyFile.readSecret(path) } catch { throw Failure(error.description) }
      guard !text.isEmpty else { throw Failure("\(path) is to hold a secret, and is empty") }
      return text
    case .variable(let name):
      guard let text = ServerOption.environment(name) else {
        throw Failure(
          "the configuration takes a secret from the environment variable \(name), which is not set")
      }
      return text
    }
  }
}

extension AppStoreClients {
  /// What is left of Apple's limits.
  var samples: [MetricSample] {
    appEnvironments.flatMap { target in
      let levels = self[target.appID, target.environment]?.availableCalls ?? [:]
      return levels.map { endpoint, calls in
        MetricSample(
          "entitled_app_store_rate_limit_calls",
          labels: [
            ("app", target.appID), ("environment", target.environment.rawValue),
            ("endpoint", endpoint.rawValue),
          ], calls.rounded(.down))
      }
    }
  }
}
