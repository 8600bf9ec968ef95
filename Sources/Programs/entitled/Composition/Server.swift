internal import CommandSupport
internal import Configuration
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import SQLiteStore
internal import Services
internal import SignedData
internal import Store
internal import Telemetry
internal import Tracing
internal import Transport
internal import UnixSignals

/// The running service: opens the store and the listeners, runs the workers, and drains on shutdown.
///
/// At a shutdown, readiness fails first. One of several replicas hands over and drains before its workers are
/// cancelled; a process alone cancels its workers and then drains. Then the buffered records are written, and the store
/// is closed.
struct Server {
  let settings: ServeSettings
  let configuration: ServiceConfiguration
  let metrics: MetricsRegistry
  let logger: Logger

  /// Runs the service until a signal asks it to end.
  ///
  /// - Throws: ``Failure`` for the first part that cannot start; parts that were opened are closed.
  func run(until termination: TerminationSignals) async throws {
    // Trapped first, because an untrapped SIGHUP terminates the process.
    let reloadSignals = await UnixSignalsSequence(trapping: .sighup)
    let store = try Startup.store(settings, configuration)
    do {
      try await serve(store, reloadSignals, until: termination)
      await store.close()
    } catch {
      await store.close()
      throw error
    }
  }

  /// Opens all parts in their order, and runs them.
  private func serve(
    _ store: any EntitlementStore, _ reloadSignals: UnixSignalsSequence, until termination: TerminationSignals
  ) async throws {
    let threads = settings.threads ?? AvailableCores.count
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    for loop in loops.makeIterator() { loop.execute { ThreadPriority.setInteractive() } }
    // The edge has its own event loops, so that bursts of notifications do not delay `Check`.
    let edgeLoops = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    for loop in edgeLoops.makeIterator() { loop.execute { ThreadPriority.setYielding() } }

    let limits = TransportLimits(configuration.listeners.limits)
    let budget = try connectionBudget(limits)
    let held = PeerBytes(limits)
    let security = try ListenerSecurity(configuration.listeners, settings)
    // The sandbox is opened before the service, which calls it in place of Apple.
    let sandbox = try await settings.sandbox?.open(
      configuration, data: settings.data, on: edgeLoops, maxConnections: budget.other, held: held,
      logger: logger)
    let installation = Installation(
      store: store, key: try Startup.installationKey(configuration.erasures, data: settings.data))
    let traces = try TraceExport(configuration.traces, replica: settings.replica.name)
    if let traces { InstrumentationSystem.bootstrap(traces.tracer) }
    let application = try Application(
      configuration, settings, installation, sandbox: sandbox, security: security, traces: traces,
      logger: logger)
    // After the callers, whose absence is the greater danger.
    try ListenerTLS.refuseCleartext(configuration.listeners, settings)
    try await prepare(application, store.replication, installation.key)
    application.addMetrics(to: metrics, dataDirectory: settings.data)
    let listeners = try await Listeners.open(
      settings, on: loops, edge: edgeLoops, application: application, security: security,
      limits: limits, budget: budget, held: held, sandbox: sandbox?.listener, metrics: metrics,
      logger: logger)
    metrics.add(CallbackMetricsSource { listeners.samples })
    store.replication?.announce(address: "\(listeners.grpc.address)")
    warn(about: budget, limits)
    await application.monitor.begin()
    // A failed start prints its cause and nothing else.
    logger.info(
      "started",
      metadata: [
        "version": "\(Version.current)", "cores": "\(AvailableCores.count)", "event_loops": "\(threads)",
      ])
    StartupBanner(
      listeners: listeners, data: settings.data, apps: configuration.apps,
      consoleLink: listeners.console.flatMap {
        application.console.links?.link(at: $0.address, isSecure: security.tls.console != nil)
      }, tls: security.tls
    ).print()

    let reloader = ConfigurationReloader(
      application: application, tls: security.tls, settings: settings, started: configuration,
      reloadSignals: reloadSignals, logger: logger)
    await run(application, reloader, listeners, store.replication, until: termination)
    await traces?.flush()
  }

  /// Prepares the store, unless another replica leads.
  private func prepare(
    _ application: Application, _ replication: (any Replication)?, _ key: InstallationKey
  ) async throws {
    if let replication {
      try await Startup.require(key, in: replication)
      // A process without others leads from its first call on.
      await replication.beat()
    }
    do {
      // A replica that becomes the leader later prepares then.
      if replication?.role.isLeader ?? true { try await application.prepare() }
    } catch {
      // Another one took over meanwhile, and prepares.
      guard replication?.role == .follower else { throw error }
    }
  }

  /// Warns if fewer connections than configured are possible.
  private func warn(about budget: ConnectionBudget, _ limits: TransportLimits) {
    guard budget.grpc < limits.connections || budget.edge < limits.connections else { return }
    logger.warning(
      "limit of open files reduces the number of connections",
      metadata: ["limit": "\(OpenFiles.limit)", "grpc": "\(budget.grpc)", "http": "\(budget.edge)"])
  }

  /// Runs the workers until the process is asked to end, and drains the listeners.
  private func run(
    _ application: Application, _ reloader: ConfigurationReloader, _ listeners: Listeners,
    _ replication: (any Replication)?, until termination: TerminationSignals
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await application.run([reloader]) }
      await termination.wait()
      // Readiness fails before the workers are cancelled, because cancellation may take a while.
      application.monitor.stop()
      listeners.announceShutDown()
      if let replication {
        // The workers continue until another replica leads, or the calls have ended.
        await replication.release()
        await drain(application, listeners)
        await application.flush()
      }
      group.cancelAll()
    }
    if replication == nil { await drain(application, listeners) }
    await application.flush()
  }

  /// Waits for the configured delay, and ends the connections.
  private func drain(_ application: Application, _ listeners: Listeners) async {
    // Load balancers poll readiness at intervals, and send calls until they notice.
    try? await Task.sleep(for: .seconds(settings.drainSeconds))
    await listeners.shutDown { application.endStreams() }
  }

  /// The connections that the limit of open files allows.
  private func connectionBudget(_ limits: TransportLimits) throws -> ConnectionBudget {
    do throws(ConnectionBudgetError) {
      return try ConnectionBudget(
        limit: OpenFiles.limit, open: OpenFiles.count, configured: limits.connections,
        others: (settings.sandbox == nil ? 0 : 1) + (settings.console == nil ? 0 : 1))
    } catch {
      throw Failure(error.description)
    }
  }
}
