package import AppStore
package import Logging
internal import Metrics
internal import Platform
package import RPC
package import Store
internal import Synchronization
internal import Wire

/// The result of one health check.
package struct HealthCheckResult: Hashable, Sendable {
  /// The dependencies of the service that are checked.
  package enum Dependency: String, Hashable, Sendable, CaseIterable {
    /// The store can be read, by the event loops too.
    case storeReadable = "store_readable"
    /// The store can be written.
    case storeWritable = "store_writable"
    /// The disk of the store has free space.
    case disk
    /// Writes are not delayed.
    case writerLag = "writer_lag"
    /// The configuration on disk is the one in use.
    case configuration
  }

  package let dependency: Dependency
  /// The problem; `nil` if the check succeeded.
  package let problem: String?
  /// Whether calls about known customers are answered from memory meanwhile.
  package var isBridged = false

  /// The services that stop serving if the check fails. Queries continue as long as the store can be read; a
  /// stale configuration stops no service.
  var stops: [String] {
    switch dependency {
    case .storeReadable where isBridged:
      Contract.services.map(\.name).filter {
        $0.hasPrefix("entitled.") && $0 != "entitled.v1.EntitlementService"
      }
    case .storeReadable: Contract.services.map(\.name).filter { $0.hasPrefix("entitled.") } + [""]
    case .storeWritable, .disk, .writerLag:
      ["entitled.v1.ReceiptService", "entitled.v1.NotificationService", "entitled.v1.AppStoreService"]
    case .configuration: []
    }
  }
}

/// Performs the health checks at intervals, and updates the health service.
package final class HealthMonitor: Worker {
  package let name = "health"
  package let runsInBackground = false

  /// The minimum free space: enough for the log of several thousand writes.
  private static let minFreeBytes: Int64 = 64 << 20
  private static let interval = Duration.seconds(1)

  private struct State {
    var results: [HealthCheckResult] = []
    var configurationProblem: String?
    var isStopping = false
    /// When the write began that an earlier check stopped waiting for; `nil` if there is none.
    var waitingSince: ContinuousClock.Instant?
    /// Since when the store cannot be read although the database is not away; `nil` if it can, or is.
    var unreadableSince: ContinuousClock.Instant?
  }

  private static let isWritable = Gauge(label: "entitled_store_writable")

  private let store: any EntitlementStore
  private let health: HealthService
  private let maxDelay: Duration
  private let missingReaders: MissingReaders
  private let now: @Sendable () -> Instant
  /// Returns the free space on the disk of the store; `nil` if it is unknown.
  let freeBytes: @Sendable () -> Int64?
  private let logger: Logger
  private let state = Mutex(State())

  /// - Parameters:
  ///   - store: the store to check.
  ///   - health: receives the serving status of each service.
  ///   - maxDelay: the maximum duration of a read or write; most callers have disconnected after it.
  ///   - missingReaders: the event loops without a reader, which cannot answer `Check`.
  ///   - now: the machine's time.
  ///   - logger: receives an error when a check begins to fail, with the cause.
  ///   - freeBytes: returns the free space on the disk of the store; `nil` if it is unknown.
  package init(
    store: any EntitlementStore, health: HealthService, maxDelay: Duration = .seconds(5),
    missingReaders: MissingReaders = MissingReaders(),
    now: @escaping @Sendable () -> Instant = { Instant(millisecondsSince1970: 0) },
    logger: Logger, freeBytes: @escaping @Sendable () -> Int64?
  ) {
    self.maxDelay = maxDelay
    self.store = store
    self.health = health
    self.missingReaders = missingReaders
    self.now = now
    self.logger = logger
    self.freeBytes = freeBytes
  }

  /// The results of the last checks.
  package var results: [HealthCheckResult] { state.withLock { $0.results } }

  /// Whether calls are served: not during startup and shutdown, nor while the store cannot be read.
  package var isReady: Bool { health.status(of: "") == .serving }

  /// Records the error of the last configuration reload; `nil` if it succeeded.
  package func reportConfigurationError(_ problem: String?) {
    state.withLock { $0.configurationProblem = problem }
  }

  /// Performs the first checks, after which calls are served. The program calls it before the listeners accept
  /// connections.
  package func begin() async {
    await check()
  }

  /// Performs the checks until the task is cancelled.
  package func run() async {
    while !Task.isCancelled {
      await check()
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Sets all services to NOT_SERVING permanently.
  package func stop() {
    state.withLock { $0.isStopping = true }
    health.setAll(.notServing)
  }

  /// Performs the checks once.
  package func check() async {
    // Together, because each may wait for the store.
    async let readProblem = storeReadProblem()
    let writing = await checkWrites()
    let unreadable = await readProblem ?? writing.removal
    let results =
      [
        HealthCheckResult(
          dependency: .storeReadable, problem: unreadable,
          isBridged: isBridged(isReadable: unreadable == nil)),
        HealthCheckResult(dependency: .disk, problem: diskProblem()),
      ] + writing.results + [
        HealthCheckResult(dependency: .configuration, problem: state.withLock { $0.configurationProblem })
      ]
    guard !Task.isCancelled else { return }
    let (previous, isStopping) = state.withLock { state in
      defer { state.results = results }
      return (state.results, state.isStopping)
    }
    guard !isStopping else { return }
    logChanges(to: results, from: previous)
    let stopped = Set(results.filter { $0.problem != nil }.flatMap(\.stops))
    for service in Contract.services.map(\.name) + [""] {
      health.set(stopped.contains(service) ? .notServing : .serving, for: service)
    }
  }

  /// Logs the checks that fail since the last time, and those that succeed again. A reload logs its errors itself.
  private func logChanges(to results: [HealthCheckResult], from previous: [HealthCheckResult]) {
    let failed = Set(previous.filter { $0.problem != nil }.map(\.dependency))
    for result in results where result.dependency != .configuration {
      let check: Logger.MetadataValue = "\(result.dependency.rawValue)"
      if let problem = result.problem {
        guard !failed.contains(result.dependency) else { continue }
        logger.error("health check failed", metadata: ["check": check, "error": "\(problem)"])
      } else if failed.contains(result.dependency) {
        logger.notice("health check succeeds again", metadata: ["check": check])
      }
    }
  }

  /// The problem with reads, by the pool or on an event loop; `nil` if there is none.
  private func storeReadProblem() async -> String? {
    let result = await withTimeLimit(maxDelay) { [store] () -> StoreError? in
      do throws(StoreError) {
        // A row, because a snapshot alone may need no round trip.
        _ = try await store.read { snapshot throws(StoreError) in try snapshot.lastEvidence() }
        return nil
      } catch {
        return error
      }
    }
    guard let result else { return "a read takes longer than \(maxDelay)" }
    if let error = result { return error.description }
    let missing = missingReaders.count
    return missing == 0 ? nil : "\(missing) event loops have no reader of the store"
  }

  /// Whether the service stays ready while the database is away, because it answers from memory. Reads that fail for
  /// longer than ``maxDelay`` in a database that is not away fail for another reason, without an end in sight.
  private func isBridged(isReadable: Bool) -> Bool {
    let feed = store.feed
    let start = ContinuousClock.now
    let unreadableSince = state.withLock { state in
      state.unreadableSince = isReadable || feed.isAway ? nil : state.unreadableSince ?? start
      return state.unreadableSince
    }
    guard start - (unreadableSince ?? start) <= maxDelay else { return false }
    return feed.isShared && feed.policy.isReadyWhileStale && feed.staleness(at: now()) != .expired
  }

  /// Too little or unknown free space; `nil` if there is enough.
  private func diskProblem() -> String? {
    guard let free = freeBytes() else { return "free space unknown" }
    return free < Self.minFreeBytes
      ? "\(free >> 20) MiB free, less than \(Self.minFreeBytes >> 20)" : nil
  }

  /// Retries a failed store; in a working one, measures the delay of an empty write after all queued ones. A store
  /// that was removed can still be read, but its answers grow old; `removal` is this problem.
  private func checkWrites() async -> (results: [HealthCheckResult], removal: String?) {
    let start = ContinuousClock.now
    var (problem, removal): (String?, String?)
    if let error = await write(since: start) {
      problem = error.description
      if case .removed = error { removal = problem }
    }
    let waitingSince = state.withLock { $0.waitingSince }
    if problem != nil || waitingSince != nil { Self.isWritable.record(0) }
    let lag = ContinuousClock.now - (waitingSince ?? start)
    let results = [
      HealthCheckResult(dependency: .storeWritable, problem: problem),
      HealthCheckResult(
        dependency: .writerLag, problem: lag > maxDelay ? "a write waited \(lag)" : nil),
    ]
    return (results, removal)
  }

  /// Writes, and waits for it at most for ``maxDelay``. While one write waits for the store, no other begins.
  private func write(since start: ContinuousClock.Instant) async -> StoreError? {
    let isFirst = state.withLock { state in
      defer { state.waitingSince = state.waitingSince ?? start }
      return state.waitingSince == nil
    }
    guard isFirst else { return nil }
    let result = await withTimeLimit(maxDelay) { [self] in
      let error = await probe()
      state.withLock { $0.waitingSince = nil }
      return error
    }
    return result ?? nil
  }

  private func probe() async -> StoreError? {
    do throws(StoreError) {
      try await store.health()
      if store.replication?.role.isLeader ?? true {
        try await store.dryRun { store throws(StoreError) in try store.testInsertion() }
      }
      return nil
    } catch {
      return error
    }
  }
}
