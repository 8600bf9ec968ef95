internal import AppStore
internal import AppStoreClient
internal import Configuration
internal import Entitlements
internal import ReceiptMigration
internal import Sandbox

extension Startup {
  /// How the receipts of each app are treated; `verifyReceipt` of the embedded sandbox, where there is one.
  /// Migration jobs read from `importFolder`.
  static func receipts(
    _ configuration: ServiceConfiguration, sandbox: EmbeddedSandbox?, importFolder: String
  ) throws -> ReceiptSettings {
    var settings = ReceiptSettings(folder: ImportFolder(path: importFolder))
    for app in configuration.apps {
      settings.policies[app.definition.id] = ReceiptPolicy(app.receipts)
      guard app.receipts.verification != .local else { continue }
      let endpoints = app.receipts.endpoints
      let embedded = sandbox.map { "\($0.baseURL)/verifyReceipt" }
      let now =
        if let clock = sandbox?.simulator.clock { { @Sendable in clock.now() } } else { SystemClock.now }
      let client = VerifyReceiptClient(
        productionURL: endpoints[.production] ?? VerifyReceiptClient.productionURL,
        sandboxURL: endpoints[.sandbox] ?? embedded ?? VerifyReceiptClient.sandboxURL,
        exchange: AsyncHTTPExchange.shared, clock: .system(now: now))
      settings.endpoints[app.definition.id] = VerifyReceiptSettings(
        client: client, sharedSecret: try sharedSecret(of: app))
    }
    return settings
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
