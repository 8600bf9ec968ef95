internal import Callers
internal import Configuration
internal import Entitlements
internal import Ledger
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import RPC
internal import SQLiteStore
internal import Sandbox
internal import ServiceLifecycle
internal import Services
internal import Store
internal import Telemetry
internal import Transport
internal import UnixSignals
internal import Wire

/// The running service: everything wired together, from the store to the listeners, and taken down in
/// the opposite order.
struct Server: ServiceLifecycle.Service, CustomStringConvertible {
  let settings: ServeSettings
  let configuration: ServiceConfiguration
  let metrics: MetricsRegistry
  let logger: Logger

  /// What the lifecycle's log lines call it: by default they would hold all of the configuration.
  var description: String { "entitled" }

  func run() async throws {
    // Before all else: whoever reads that the service is ready may send one at once, which would end it.
    let hangUps = await UnixSignalsSequence(trapping: .sighup)
    let store = try Startup.store(in: settings.data)
    do {
      try await serve(configuration, store, hangUps)
      await store.close()
    } catch {
      await store.close()
      throw error
    }
  }

  private func serve(
    _ configuration: ServiceConfiguration, _ store: any EntitlementStore, _ hangUps: UnixSignalsSequence
  ) async throws {
    let loops = settings.threads.map(MultiThreadedEventLoopGroup.init(numberOfThreads:)) ?? .singleton
    for loop in loops.makeIterator() { loop.execute { ThreadPriority.setInteractive() } }
    // Of their own: a hundred notifications that come at once would be before a `Check` in the same loop.
    let edgeLoops = MultiThreadedEventLoopGroup(numberOfThreads: settings.threads ?? System.coreCount)
    for loop in edgeLoops.makeIterator() { loop.execute { ThreadPriority.setBackground() } }
    // First, since the service asks it what it would ask Apple.
    let sandbox = try await EmbeddedSandbox.open(settings, configuration, on: edgeLoops, logger: logger)
    let keyFetch = JWKSRefresher(logger: logger)
    let callers = CurrentCallers(
      try Startup.admission(configuration, at: settings.addresses, fetch: keyFetch))
    let clients = try Startup.clients(configuration, sandbox: sandbox)
    let supervisor = WorkerSupervisor(logger: logger)
    let policy = CallPolicy(
      callers: callers, now: SystemClock.now, ticks: SystemClock.ticks, audit: AuditLogger().write)
    let services = try Startup.services(
      configuration, store, sandbox: sandbox, clients: clients, importFolder: settings.importFolder,
      answerCacheBytes: settings.answerCacheMiB << 20, policy: policy, supervisor: supervisor)
    try await services.prepare()
    metrics.add(policy.metrics)
    metrics.add(ProcessMetrics(dataDirectory: settings.data))
    metrics.add(CallbackMetricsSource { clients.samples })
    metrics.add(
      CallbackMetricsSource { [health = services.health] in
        [
          MetricSample("entitled_build_info", labels: [("version", Version.current)], 1),
          MetricSample("entitled_ready", health.status(of: "") == .serving ? 1 : 0),
        ]
      })
    let monitor = HealthMonitor(store: store, health: services.health) { [settings] in
      DiskSpace.free(at: settings.data)
    }
    let security = try ListenerTLS(configuration.listeners, settings)
    let listeners = try await Listeners.open(
      settings, on: loops, edge: edgeLoops, services: services, security: security,
      limits: TransportLimits(configuration.listeners.limits), sandbox: sandbox?.listener, metrics: metrics,
      monitor: monitor, logger: logger)
    metrics.add(CallbackMetricsSource { listeners.samples })
    await monitor.begin()
    StartupBanner(listeners: listeners, data: settings.data).print()

    await withTaskGroup(of: Void.self) { group in
      let retention = EvidenceRetention(
        Startup.retentionRules(configuration), store: store, now: SystemClock.now)
      let reloader = ConfigurationReloader(
        services: services, security: security, callers: callers, keyFetch: keyFetch, monitor: monitor,
        settings: settings, hangUps: hangUps, logger: logger)
      var workers = services.workers + [reloader, keyFetch, monitor, retention]
      if let sandbox { workers.append(sandbox) }
      group.addTask { [workers] in await supervisor.run(workers) }
      try? await gracefulShutdown()
      // Before all else, since what is cancelled may take its time.
      monitor.stop()
      listeners.announceShutDown()
      group.cancelAll()
    }
    // Whoever sends callers here looks at readiness now and then: until it has seen that, they still come.
    try? await Task.sleep(for: .seconds(settings.drainSeconds))
    await listeners.shutDown { services.endStreams() }
  }
}
