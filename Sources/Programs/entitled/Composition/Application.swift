internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Callers
internal import CommandSupport
internal import Configuration
internal import DeviceCheck
internal import Entitlements
internal import HTTP
internal import JSON
internal import Ledger
internal import Logging
internal import Platform
internal import PostgresStore
internal import RPC
internal import ReceiptMigration
internal import Reconciliation
internal import Services
internal import SideBySide
internal import SignedData
internal import Store
internal import Telemetry
internal import Webhooks
internal import Wire

/// The composition root: constructs the components of the service and connects them. It opens no listener; ``Server``
/// does, and runs it.
struct Application: Sendable {
  /// Adopts a reloaded catalog.
  let catalog: CatalogWorker
  /// The callers in force; a reload replaces them.
  let callers: CurrentCallers
  /// Fetches the keys of the callers' identity provider; idle if they are in a file.
  let jwks: JWKSRefresher
  /// Ingestion, calls of Apple, and deliveries.
  let features: Features
  /// The implementations of the contract's services, for gRPC, Connect and calls in process.
  let services: Services
  /// `grpc.health.v1.Health`, which ``monitor`` updates.
  let health: HealthService
  /// Checks the dependencies for `/readyz` and `GetStatus`.
  let monitor: HealthMonitor
  /// What `GetStatus` and the console show of the configuration and the certificates.
  let information: ServiceInformation
  /// Audit entries and requests for retention messages that wait to be written.
  private let records: RecordBuffers
  /// The console without its listener; constructed also if it is off.
  let console: ConsoleComponents
  private let ledger: EvidenceLedger
  /// The commits, also those of other replicas.
  let feed: StoreFeed
  private let logger: Logger
  /// What the interceptors of all listeners need.
  let policy: CallPolicy
  let signing: SigningSettings
  let sandbox: EmbeddedSandbox?
  /// Wakes `Watch` streams after commits.
  private let broadcaster: EventBroadcaster
  /// Restarts loops that fail, with backoff, and counts the failures.
  private let supervisor: WorkerSupervisor
  /// The loops that write or call Apple: those of the leader.
  private let writers: [any Worker]
  /// Whether this process writes.
  let leadership: Leadership
  /// The routes of the edge that write, or that Apple and other systems call.
  private let endpoints: EdgeEndpoints
  /// Whether customers are also served in the form of RevenueCat's API.
  private let servesSubscribers: Bool
  /// ``Server`` opens and closes it.
  let store: any EntitlementStore
  /// `nil` without a section `traces`.
  private let traces: TraceExport?

  /// Constructs all components over the store of `installation`. With a sandbox, its environment follows the sandbox's
  /// clock, which a tester may advance; all other environments, webhooks and certificates follow the system's clock.
  /// Nothing runs and nothing is written before ``prepare()`` and ``run(_:)``.
  ///
  /// - Throws: ``Failure`` for a key, secret or certificate that cannot be read.
  init(
    _ configuration: ServiceConfiguration, _ settings: ServeSettings, _ installation: Installation,
    sandbox: EmbeddedSandbox?, security: ListenerSecurity, traces: TraceExport?, logger: Logger
  ) throws {
    let (store, key) = (installation.store, installation.key)
    let core = try CoreComponents(configuration, settings, installation, sandbox: sandbox)
    self.sandbox = sandbox
    self.traces = traces
    self.logger = logger
    self.store = store
    (ledger, leadership, feed) = (core.ledger, core.leadership, store.feed)
    catalog = CatalogWorker(ledger)
    supervisor = WorkerSupervisor(logger: logger)
    signing = try Startup.signing(configuration)
    features = try Features(configuration, settings, core, sandbox: sandbox, supervisor: supervisor)
    broadcaster = EventBroadcaster(store: store, now: core.clocks[nil].now)

    jwks = JWKSRefresher(logger: logger)
    callers = CurrentCallers(try Startup.callerPolicy(configuration, at: settings.addresses, jwks: jwks))
    sandbox?.showAnswers(SandboxAnswerReader(store, callers: callers, clock: core.clocks[.sandbox]))
    records = RecordBuffers(
      auditEntries: RecordBuffer(ledger, leadership: leadership) { _ in
        logger.error("audit entry discarded: the store cannot be written")
      }, retentionRequests: RecordBuffer(ledger, leadership: leadership))
    policy = CallPolicy(
      callers: callers, now: SystemClock.now, ticks: SystemClock.ticks, audit: core.audit.write,
      auditEntries: records.auditEntries, tracer: traces?.tracer)
    health = HealthService(services: Contract.services.map(\.name))
    let missingReaders = MissingReaders(logger)
    monitor = HealthMonitor(
      store: store, health: health, missingReaders: missingReaders, now: SystemClock.now, logger: logger,
      freeBytes: { DiskSpace.free(at: settings.data) })
    information = try ServiceInformation(configuration, settings, security.tls)
    services = Services(
      ServiceContext(
        core, features, signing: signing,
        streams: StreamComponents(broadcaster: broadcaster, limit: StreamLimit(configuration)),
        pageTokens: PageTokens(key: key.derived(for: "page tokens")),
        status: StatusComponents(monitor: monitor, information: information), records: records),
      policy: policy, health: health, cacheBytes: settings.answerCacheMiB << 20,
      missingReaders: missingReaders)
    console = try ConsoleComponents(
      configuration, settings, key: key, calls: services.inProcessCalls, hosts: security.hosts.console,
      logger: logger)

    servesSubscribers = configuration.listeners.http.servesSubscribers
    endpoints = EdgeEndpoints(
      configuration, core, features, services, policy: policy, signing: signing,
      retentionRequests: records.retentionRequests)
    writers =
      Self.writers(configuration, core) + [catalog] + features.workers
      + [services.inboxWorker(endpoints.writes)].compactMap { $0 }
  }

  /// The loops of the ledger that write.
  private static func writers(_ configuration: ServiceConfiguration, _ core: CoreComponents) -> [any Worker] {
    let (store, ledger, clocks) = (core.store, core.ledger, core.clocks)
    let purge = PurgeWorker(
      Startup.retentionRules(configuration), requestDays: configuration.retentionRequestDays,
      auditDays: configuration.auditRetentionDays, store: store, clocks: clocks)
    return [purge, ErasedNameWorker(store: store, clocks: clocks)]
      + clocks.all.map { DueWorker.expiry(ledger, store: store, clock: $0) }
      + clocks.all.map { DueWorker.segments(ledger, store: store, clock: $0) }
  }

  /// The loops that run in each process.
  private var workers: [any Worker] {
    var workers: [any Worker] = [
      broadcaster, jwks, console.keys, monitor, records.auditEntries, records.retentionRequests,
    ]
    if let sandbox { workers.append(sandbox.worker) }
    if let traces { workers.append(traces.exporter) }
    if let shared = store as? PostgresEntitlementStore {
      workers.append(
        ReplicaRegistrar(shared, program: Version.current) { [replicas = policy.replicas] in
          replicas.value = Int64($0)
        })
    }
    return workers
  }

  /// Erases the customers that a restored store has again, and prepares the store for new webhooks. Must be called
  /// before the first call is served: no answer names an erased customer, and a new webhook receives the events of that
  /// call. A replica calls it each time it becomes the leader.
  ///
  /// - Throws: ``Failure`` for an erasure that cannot be applied: the service must not start then.
  func prepare() async throws {
    do {
      let erased = try await ledger.applyErasures {
        [features] restored, tokens, isErased async throws(LedgerError) in
        try await features.migrations.eraseRestoredUploads(
          naming: restored, tokens: tokens, where: isErased)
      }
      if !erased.isEmpty {
        logger.notice("erasures applied to a restored store", metadata: ["customers": "\(erased.count)"])
      }
    } catch {
      throw Failure("cannot apply the erasures: \(error)")
    }
    try await features.webhooks.begin()
  }

  /// Runs all background workers and `others` until the task is cancelled; those that write only while this process
  /// is the leader, if the store has several.
  func run(_ others: [any Worker]) async {
    guard let replication = store.replication else { return await supervisor.run(workers + writers + others) }
    let writing = LeaderWorkers(
      leadership: leadership, supervisor: supervisor, workers: writers, prepare: prepare, logger: logger)
    let loops: [any Worker] = replication.workers.map { ReplicaLoop($0) }
    await supervisor.run(workers + others + loops + [writing])
  }

  /// Writes the audit entries and the requests for retention messages that wait, as far as the store can be written.
  func flush() async { await records.flush() }

  /// Whether this process executes what writes.
  var executesWrites: Bool { leadership.executesWrites }

  /// The routes of the HTTP edge.
  func router(metrics: MetricsRegistry) -> EdgeRouter {
    EdgeRouter(
      connect: services.connectEndpoint, flags: services.flagEndpoint,
      openAPI: OpenAPIEndpoint(version: Version.current),
      subscribers: servesSubscribers ? services.subscriberEndpoint : nil,
      writes: services.requestForwarder(endpoints.writes, now: SystemClock.now),
      metrics: services.metricsEndpoint(metrics), jwks: { [signing] in signing.jwks },
      readiness: ReadinessEndpoint(monitor: monitor, callers: callers), tracer: traces?.tracer
    ).adding(endpoints.retention, endpoints.revenueCat)
  }

  /// Ends streams without a natural end, so that a drain does not wait for them. Clients reconnect elsewhere.
  func endStreams() {
    broadcaster.close()
    health.endWatches()
  }
}

extension MissingReaders {
  /// Logs each reader that is missing.
  fileprivate convenience init(_ logger: Logger) {
    self.init { logger.critical("store reader unavailable on event loop", metadata: ["error": "\($0)"]) }
  }
}

extension SigningSettings {
  /// The public keys of entitlement tokens as a JSON Web Key Set; empty if tokens are turned off.
  fileprivate var jwks: [UInt8] { (tokens?.keys.current.jwks ?? ["keys": []]).serialized() }
}
