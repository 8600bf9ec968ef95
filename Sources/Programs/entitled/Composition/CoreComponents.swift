internal import CommandSupport
internal import Configuration
internal import Entitlements
internal import Ledger
internal import Services
internal import SignedData
internal import Store

/// The store of an installation, and the secret from which its other secrets are derived.
struct Installation: Sendable {
  let store: any EntitlementStore
  let key: InstallationKey
}

/// The ledger and what it rests on: the parts that features, services and endpoints share.
struct CoreComponents: Sendable {
  let store: any EntitlementStore
  let clocks: ServiceClocks
  /// Trusts Apple's roots, the configured ones and the sandbox's.
  let verifier: SignedDataVerifier
  let catalog: CurrentCatalog
  /// Whether this process writes; always, for a store of one process.
  let leadership: Leadership
  /// The log of mutating calls.
  let audit: AuditLogger
  let ledger: EvidenceLedger

  /// Constructs the ledger over the store.
  ///
  /// - Throws: ``Failure`` for a root or a list of erasures that cannot be read.
  init(
    _ configuration: ServiceConfiguration, _ settings: ServeSettings, _ installation: Installation,
    sandbox: EmbeddedSandbox?
  ) throws {
    let store = installation.store
    self.store = store
    clocks = ServiceClocks(beside: sandbox)
    leadership = Leadership(store.replication)
    store.replication?.announce(catalog: configuration.catalog.fingerprint)
    verifier = try Startup.verifier(configuration, sandbox: sandbox)
    catalog = CurrentCatalog(configuration.catalog)
    let erasures = try Startup.erasures(configuration.erasures, data: settings.data, key: installation.key)
    let audit = AuditLogger(erasures: erasures, showsCustomers: configuration.log.customers == .id)
    self.audit = audit
    ledger = EvidenceLedger(
      store: store, verifier: verifier, catalog: catalog, clocks: clocks, erasures: erasures,
      recordEffects: { effects in
        LedgerMetrics.record(effects)
        for case .tokenConflict(let conflict) in effects { audit.write(conflict) }
      })
  }
}

extension ServiceClocks {
  /// With a sandbox, its clock for its environment; the system's for all others.
  fileprivate init(beside sandbox: EmbeddedSandbox?) {
    if let sandbox {
      self.init(sandbox: sandbox.clock, machine: ServiceClock(now: SystemClock.now, domain: .others))
    } else {
      self.init(ServiceClock(now: SystemClock.now))
    }
  }
}
