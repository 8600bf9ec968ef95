internal import CommandSupport
internal import Configuration
internal import Services
internal import Store
internal import Webhooks

// The parts of other components that the services get.

extension ServiceContext {
  init(
    _ core: CoreComponents, _ features: Features, signing: SigningSettings, streams: StreamComponents,
    pageTokens: PageTokens, status: StatusComponents, records: RecordBuffers
  ) {
    self.init(
      LedgerComponents(
        store: core.store, ledger: core.ledger, catalog: core.catalog, verifier: core.verifier,
        leadership: core.leadership),
      signing: signing,
      apple: AppleComponents(
        lookup: features.lookup, deviceCheck: features.deviceCheck, onlineChecks: features.onlineChecks),
      intake: IntakeComponents(
        notifications: features.inbox, receipts: features.receiptIntake, migrations: features.migrations,
        reconciler: features.reconciler),
      streams: streams,
      deliveries: DeliveryAdmin(features.webhooks, store: core.store, now: SystemClock.now),
      pageTokens: pageTokens, status: status, records: records)
  }
}

extension StreamLimit {
  /// The configured limit, or the default.
  convenience init(_ configuration: ServiceConfiguration) {
    guard let limit = configuration.listeners.limits[.maxWatchStreamsPerCaller] else {
      self.init()
      return
    }
    self.init(Int(limit))
  }
}

extension ServiceInformation {
  /// - Throws: ``Failure`` for a trust anchor that cannot be read.
  convenience init(
    _ configuration: ServiceConfiguration, _ settings: ServeSettings, _ tls: ListenerTLS
  ) throws {
    let roots = try Startup.certificateEnds(configuration)
    self.init(
      version: Version.current, startedAt: SystemClock.now(), configuration: .init(configuration, settings),
      certificates: { tls.certificateEnds + roots })
  }
}

extension ServiceInformation.LoadedConfiguration {
  /// A configuration that was loaded now.
  init(_ configuration: ServiceConfiguration, _ settings: ServeSettings, pendingRestart: [String] = []) {
    self.init(
      document: configuration.document, path: settings.configurationFile, loadedAt: SystemClock.now(),
      pendingRestart: pendingRestart)
  }
}
