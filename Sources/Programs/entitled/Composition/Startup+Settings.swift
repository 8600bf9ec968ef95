internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import CommandSupport
internal import Configuration
internal import CustomerImport
internal import Entitlements
internal import Ledger
internal import Notifications
internal import ReceiptMigration
internal import Reconciliation
internal import Services
internal import SideBySide
internal import SignedData
internal import Store
internal import Webhooks

// Conversions of the configuration into the settings of features.
extension Startup {
  /// The reconciliation policies by app id.
  static func reconciliationPolicies(_ configuration: ServiceConfiguration) -> [String: ReconciliationPolicy]
  {
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

  /// The OCSP checks; `nil` if no app requires them.
  static func onlineChecks(
    _ configuration: ServiceConfiguration, _ verifier: SignedDataVerifier
  ) -> OnlineCheckEnforcer? {
    let policies = Dictionary(
      configuration.apps.map { ($0.definition.id, $0.onlineChecks) }, uniquingKeysWith: { first, _ in first })
    guard policies.values.contains(where: { $0 != .off }) else { return nil }
    return OnlineCheckEnforcer(
      checks: OnlineChecks(fetcher: OCSPClient(exchange: CurlExchange.shared), now: SystemClock.now),
      verifier: verifier,
      policies: policies)
  }

  /// The days after which the bodies of each group of evidence are purged.
  static func retentionRules(_ configuration: ServiceConfiguration) -> [PurgeWorker.Rule] {
    configuration.retention.map { group, days in
      switch group {
      case .rejected: PurgeWorker.Rule(.rejected, days: days)
      case .notifications: PurgeWorker.Rule(.notifications, days: days)
      case .documents: PurgeWorker.Rule(.documents, days: days)
      case .receipts: PurgeWorker.Rule(.receipts, days: days)
      }
    }
  }

  /// The receipt policies by app id. Migration jobs read their input from `importFolder`, and uploads from `uploads` if
  /// there is one.
  static func receipts(
    _ configuration: ServiceConfiguration, sandbox: EmbeddedSandbox?, secrets: SharedSecrets,
    importFolder: String, uploads: (any UploadStore)?
  ) -> ReceiptSettings {
    var settings = ReceiptSettings(
      folder: ImportFolder(
        path: importFolder, uploads: uploads,
        maxUploadBytes: configuration.listeners.limits[.maxUploadBytes] ?? ImportFolder.standardUploadBytes))
    for app in configuration.apps {
      settings.policies[app.definition.id] = ReceiptPolicy(app.receipts)
      guard app.receipts.verification != .local else { continue }
      let endpoints = app.receipts.endpoints
      let embedded = sandbox.map { "\($0.baseURL)/verifyReceipt" }
      let now = sandbox?.clock.now ?? SystemClock.now
      let client = VerifyReceiptClient(
        productionURL: endpoints[.production] ?? VerifyReceiptClient.productionURL,
        sandboxURL: endpoints[.sandbox] ?? embedded ?? VerifyReceiptClient.sandboxURL,
        exchange: CurlExchange.shared, clock: .system(now: now))
      settings.endpoints[app.definition.id] = VerifyReceiptSettings(
        client: client, secrets: secrets)
    }
    return settings
  }

  /// The webhooks and forwardings of all apps.
  ///
  /// - Throws: ``Failure`` for a secret that cannot be read, or is not `whsec_` and Base64 of 24 to 64 bytes (Standard
  ///   Webhooks).
  static func webhooks(_ configuration: ServiceConfiguration) throws -> [WebhookSettings] {
    try configuration.apps.flatMap { app in
      let id = app.definition.id
      return try app.webhooks.map { try webhook($0, .events, of: id) }
        + app.forwardings.map { try webhook($0, .notifications, of: id) }
    }
  }

  /// The settings of one webhook or forwarding, with its secrets.
  private static func webhook(
    _ webhook: WebhookConfiguration, _ kind: WebhookKey.Kind, of appID: String
  ) throws -> WebhookSettings {
    WebhookSettings(
      key: WebhookKey(appID: appID, kind: kind, name: webhook.name), url: webhook.url,
      secrets: try webhook.secrets.map { try webhookSecret($0, of: webhook, appID: appID) },
      format: WebhookFormat(webhook.format), kinds: webhook.kinds, environments: webhook.environments,
      schedule: webhook.retrySeconds.map(RetrySchedule.init) ?? .standard, concurrency: webhook.concurrency)
  }

  /// Reads a secret of a webhook.
  static func webhookSecret(
    _ source: SecretSource, of webhook: WebhookConfiguration, appID: String
  ) throws -> WebhookSecret {
    guard let secret = WebhookSecret(try secret(source)) else {
      throw Failure(
        "the secret of webhook '\(webhook.name)' of app '\(appID)' is not whsec_ and base64 of 24 to 64 bytes: "
          + "\(source); create one with 'echo whsec_$(openssl rand -base64 32)'")
    }
    return secret
  }

  /// Reads the shared secrets, by app id.
  ///
  /// - Throws: ``Failure``, as ``secret(_:)``.
  static func sharedSecrets(_ configuration: ServiceConfiguration) throws -> [String: SharedSecret] {
    var secrets: [String: SharedSecret] = [:]
    for app in configuration.apps {
      if let source = app.sharedSecret { secrets[app.definition.id] = SharedSecret(try secret(source)) }
    }
    return secrets
  }

  /// The settings of RevenueCat's events, by app id.
  /// `toleranceSeconds` of the configuration becomes milliseconds.
  static func revenueCat(_ configuration: ServiceConfiguration) throws -> [String: RevenueCatSettings] {
    var settings: [String: RevenueCatSettings] = [:]
    for app in configuration.apps {
      guard let events = app.revenueCatEvents,
        let authorization = SharedSecret(try secret(events.authorization))
      else { continue }
      settings[app.definition.id] = RevenueCatSettings(
        authorization: authorization,
        signingSecret: try events.signingSecret.flatMap { SharedSecret(try secret($0)) },
        comparison: AccessComparison(
          entitlementNames: events.entitlements, tolerance: events.toleranceSeconds * 1_000),
        retentionDays: events.retentionDays)
    }
    return settings
  }

  /// Reads a secret; it is not empty.
  ///
  /// - Throws: ``Failure`` that names the file or the environment variable, and never the secret.
  static func secret(_ source: SecretSource) throws -> String {
    switch source {
    case .file(let path):
      let text: String
      do { text = try PrivateKeyFile.readSecret(path) } catch { throw Failure(error.description) }
      guard !text.isEmpty else { throw Failure("the secret file '\(path)' is empty; write the secret to it") }
      return text
    case .variable(let name):
      guard let text = ServerOption.environment(name) else {
        throw Failure(
          "the configuration requires the environment variable \(name), which is not set; set it where the service "
            + "is started")
      }
      return text
    }
  }
}

extension ReceiptPolicy {
  fileprivate init(_ configuration: ReceiptConfiguration) {
    let verification: Verification =
      switch configuration.verification {
      case .local: .local
      case .endpoint: .endpoint
      case .both: .both
      }
    self.init(
      verification: verification, keepsReceipts: configuration.retainsReceipts,
      looksUpUnverified: configuration.looksUpUnverified)
  }
}

extension WebhookFormat {
  fileprivate init(_ format: WebhookConfiguration.Format) {
    switch format {
    case .standard: self = .standard
    case .cloudEvents: self = .cloudEvents
    }
  }
}
