internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import CommandSupport
internal import Configuration
internal import DeviceCheck
internal import Entitlements
internal import Ledger
internal import Services
internal import SignedData
internal import Store
internal import Telemetry

// Clients of Apple's servers, and signing keys.
extension Startup {
  /// The clients for all apps with an in-app purchase key. The embedded sandbox needs no key.
  static func clients(
    _ configuration: ServiceConfiguration, sandbox: EmbeddedSandbox?
  ) throws -> AppStoreClients {
    let clients = AppStoreClients()
    for app in configuration.apps {
      for environment in app.definition.environments {
        clients[app.definition.id, environment] = try client(of: app, in: environment, sandbox: sandbox)
      }
    }
    return clients
  }

  /// The client for an app in one environment; `nil` without a key or without a server.
  static func client(
    of app: AppConfiguration, in environment: AppStore.Environment, sandbox: EmbeddedSandbox?
  ) throws -> AppStoreServerClient? {
    let embedded = environment == .sandbox && app.servers[.sandbox] == nil ? sandbox : nil
    guard let server = server(of: app, in: environment, embedded) else { return nil }
    guard let credentials = try credentials(of: app, isEmbedded: embedded != nil) else { return nil }
    // The embedded sandbox verifies tokens by its own clock. The times in its headers are the machine's.
    let now = embedded?.clock.now ?? SystemClock.now
    return AppStoreServerClient(
      app: app.definition.identity, environment: environment, server: server,
      tokens: ServerAPITokenSource(credentials: credentials, now: now),
      exchange: CurlExchange.shared, clock: .system(now: SystemClock.now))
  }

  /// Apple's server, or the one that replaces it; `nil` for environments without one.
  static func server(
    of app: AppConfiguration, in environment: AppStore.Environment, _ sandbox: EmbeddedSandbox? = nil
  ) -> AppStoreServer? {
    if let url = app.servers[environment] { return AppStoreServer(baseURL: url) }
    // Apple's limits are per hour, and the sandbox's clock may run much faster.
    if let sandbox { return AppStoreServer(baseURL: sandbox.baseURL, rateLimitShare: 1000) }
    return AppStoreServer(environment)
  }

  /// The credentials for Apple's API; `nil` if the app has no key. The embedded sandbox gets a generated key.
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

  /// The DeviceCheck clients for all apps with a key. The embedded sandbox needs no key.
  static func deviceCheckClients(
    _ configuration: ServiceConfiguration, sandbox: EmbeddedSandbox?
  ) throws -> DeviceCheckClients {
    let clients = DeviceCheckClients()
    for app in configuration.apps {
      for environment in app.definition.environments {
        let embedded = environment == .sandbox && app.servers[.sandbox] == nil ? sandbox : nil
        let url = app.servers[environment] ?? embedded?.baseURL
        guard
          let server = url.map({ AppStoreServer(baseURL: $0) }) ?? AppStoreServer(deviceCheck: environment),
          let credentials = try deviceCheckCredentials(of: app, isEmbedded: embedded != nil)
        else { continue }
        // As for the App Store Server API.
        let now = embedded?.clock.now ?? SystemClock.now
        let client = DeviceCheckClient(
          server: server, tokens: DeviceCheckTokenSource(credentials: credentials, now: now),
          exchange: CurlExchange.shared, clock: .system(now: SystemClock.now))
        clients[app.definition.id, environment] = client
      }
    }
    return clients
  }

  /// The credentials for DeviceCheck; `nil` if the app has no key. The embedded sandbox gets a generated key.
  private static func deviceCheckCredentials(
    of app: AppConfiguration, isEmbedded: Bool
  ) throws -> DeviceCheckCredentials? {
    if let key = app.deviceCheckKey {
      do throws(PrivateKeyFileError) {
        return DeviceCheckCredentials(teamID: key.teamID, signer: try signer(key.path, keyID: key.keyID))
      } catch {
        throw Failure(error.description)
      }
    }
    guard isEmbedded else { return nil }
    return DeviceCheckCredentials(
      teamID: "EMBEDDED00", signer: try JWTSigner(key: .generate(.p256), keyID: "EMBEDDED00"))
  }

  /// Reads the keys that sign offers and entitlement tokens.
  static func signing(_ configuration: ServiceConfiguration) throws -> SigningSettings {
    let offers = try offers(configuration)
    do throws(PrivateKeyFileError) {
      return SigningSettings(
        offers: offers,
        tokens: try configuration.tokens.map { tokens throws(PrivateKeyFileError) in
          TokenSettings(
            keys: try TokenKeys(directory: tokens.keyDirectory), issuer: tokens.issuer,
            lifetimeMilliseconds: tokens.lifetimeSeconds * 1000)
        })
    } catch {
      throw Failure(error.description)
    }
  }

  /// Reads the keys that sign offers, by app id.
  static func offers(_ configuration: ServiceConfiguration) throws -> [String: OfferSettings] {
    do throws(PrivateKeyFileError) {
      var offers: [String: OfferSettings] = [:]
      for app in configuration.apps {
        guard let key = app.key else { continue }
        offers[app.definition.id] = OfferSettings(
          signer: OfferSigner(
            credentials: AppStoreCredentials(
              issuerID: key.issuerID, bundleID: app.definition.identity.bundleID,
              signer: try signer(with: key))),
          checksEligibility: app.checksOfferEligibility)
      }
      return offers
    } catch {
      throw Failure(error.description)
    }
  }

  /// The signer of an app's In-App Purchase key.
  private static func signer(with key: InAppPurchaseKey) throws(PrivateKeyFileError) -> JWTSigner {
    try signer(key.path, keyID: key.keyID)
  }

  /// Reads a private key of Apple's, a `.p8` file.
  static func signer(_ path: String, keyID: String) throws(PrivateKeyFileError) -> JWTSigner {
    let privateKey = try PrivateKeyFile.read(path)
    do { return try JWTSigner(key: privateKey, keyID: keyID) } catch {
      throw .notAKey(path: path, reason: "\(error.description); \(PrivateKeyFile.remedy)")
    }
  }
}

extension AppleClients<AppStoreServerClient> {
  /// The calls that Apple's rate limits still allow.
  var samples: [MetricSample] {
    targets.flatMap { target in
      let levels = self[target.appID, target.environment]?.rateLimitLevels ?? [:]
      return levels.map { endpoint, level in
        MetricSample(
          "entitled_app_store_rate_limit_calls",
          labels: [
            ("app", target.appID), ("environment", target.environment.rawValue),
            ("endpoint", endpoint.rawValue),
          ], level.availableCalls.rounded(.down))
      }
    }
  }
}
