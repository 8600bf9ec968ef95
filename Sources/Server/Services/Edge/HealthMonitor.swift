internal import AppStore
package import Platform
package import RPC
package import Store
internal import Synchronization
internal import Wire

/// What the service depends on, one by one.
package struct HealthCheckResult: Hashable, Sendable {
  package enum Dependency: String, Hashable, Sendable, CaseIterable {
    /// Answers can be read.
    case storeReadable = "store_readable"
    /// What is handed in can be kept.
    case storeWritable = "store_writable"
    /// There is room for what will be handed in.
    case disk
    /// Writes do not wait long.
    case writerLag = "writer_lag"
    /// The configuration on disk is the one that is in force.
    case configuration
  }

  package let dependency: Dependency
  /// What is wrong; `nil`: nothing.
  package let problem: String?

  /// The services that cannot do their work while something is wrong. Questions are answered from what is known as
  /// long as it can be read; a stale configuration harms nobody.
  var stops: [String] {
    switch dependency {
    case .storeReadable: Contract.services.map(\.name).filter { $0.hasPrefix("entitled.") } + [""]
    case .storeWritable, .disk, .writerLag:
      ["entitled.v1.ReceiptService", "entitled.v1.NotificationService", "entitled.v1.AppStoreService"]
    case .configuration: []
    }
  }
}

/// Looks again and again whether the service can do its work, and tells health checks.
package final class HealthMonitor: Worker {
  package let name = "health"

  /// What a disk must have left: enough for the log of some thousand writes.
  private static let leastFreeBytes: Int64 = 64 << 20
  private static let interval = Duration.seconds(1)

  private struct State {
    var findings: [HealthCheckResult] = []
    var configurationProblem: String?
    var isStopping = false
  }

  private let store: any EntitlementStore
  private let health: HealthService
  private let longestLag: Duration
  private let freeBytes: @Sendable () -> Int64?
  private let state = Mutex(State())

  /// A monitor of `store`, which tells `health`; `freeBytes` says how much room the store's disk has. A write that
  /// waits longer than `longestLag` is a problem: by then a caller has mostly gone.
  package init(
    store: any EntitlementStore, health: HealthService, longestLag: Duration = .seconds(5),
    freeBytes: @escaping @Sendable () -> Int64?
  ) {
    self.longestLag = longestLag
    self.store = store
    self.health = health
    self.freeBytes = freeBytes
  }

  /// What was found at the last look.
  package var findings: [HealthCheckResult] { state.withLock { $0.findings } }

  /// Whether calls are answered: not while the service starts and stops, nor while nothing can be read.
  package var isReady: Bool { health.status(of: "") == .serving }

  /// Says that the configuration on disk cannot be used, or, with `nil`, that it can.
  package func configurationIsOff(_ problem: String?) {
    state.withLock { $0.configurationProblem = problem }
  }

  /// Looks for the first time: from then on calls are answered.
  package func begin() async {
    var reader: (any StoreReader)?
    await look(with: &reader)
  }

  /// Looks until the task is cancelled.
  package func run() async {
    var reader: (any StoreReader)?
    while !Task.isCancelled {
      await look(with: &reader)
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// From now on nothing is served, whatever is found.
  package func stop() {
    state.withLock { $0.isStopping = true }
    health.setAll(.notServing)
  }

  /// Looks once. `reader` is kept from one look to the next, so that each costs little.
  package func look(with reader: inout (any StoreReader)?) async {
    let findings =
      [
        HealthCheckResult(dependency: .storeReadable, problem: reading(&reader)),
        HealthCheckResult(dependency: .disk, problem: disk()),
      ] + (await writing()) + [
        HealthCheckResult(dependency: .configuration, problem: state.withLock { $0.configurationProblem })
      ]
    let isStopping = state.withLock { state in
      state.findings = findings
      return state.isStopping
    }
    guard !isStopping else { return }
    let stopped = Set(findings.filter { $0.problem != nil }.flatMap(\.stops))
    for service in Contract.services.map(\.name) + [""] {
      health.set(stopped.contains(service) ? .notServing : .serving, for: service)
    }
  }

  private func reading(_ reader: inout (any StoreReader)?) -> String? {
    do throws(StoreError) {
      if reader == nil { reader = try store.makeReader() }
      _ = try reader?.snapshotVersion()
      reader?.endTurn()
      return nil
    } catch {
      reader = nil
      return error.description
    }
  }

  private func disk() -> String? {
    guard let free = freeBytes() else { return "how much is free cannot be found out" }
    return free < Self.leastFreeBytes
      ? "\(free >> 20) MiB are free, less than \(Self.leastFreeBytes >> 20)" : nil
  }

  /// A store that failed tries again here; one that works is asked to do nothing, behind all that waits.
  private func writing() async -> [HealthCheckResult] {
    let start = ContinuousClock.now
    var problem: String?
    do throws(StoreError) {
      try await store.health()
      try await store.dryRun { (_) throws(StoreError) in }
    } catch {
      problem = error.description
    }
    let lag = ContinuousClock.now - start
    return [
      HealthCheckResult(dependency: .storeWritable, problem: problem),
      HealthCheckResult(
        dependency: .writerLag, problem: lag > longestLag ? "a write waited \(lag)" : nil),
    ]
  }
}
