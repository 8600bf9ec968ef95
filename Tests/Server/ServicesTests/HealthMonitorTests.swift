import AppStore
import Entitlements
import Foundation
import RPC
import SQLiteStore
import Store
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Services

@Suite(.timeLimit(.minutes(10))) struct HealthMonitorTests {
  private let free = Free()
  private let health = HealthService(services: Contract.services.map(\.name))

  private let lines = LogLines()

  /// The free disk space that a test sets.
  private final class Free: Sendable {
    let bytes = Mutex<Int64?>(1 << 40)
  }

  private let directory = FileManager.default.temporaryDirectory.appending(path: "health-\(UUID())").path

  private func withMonitor(_ body: (HealthMonitor, SQLiteEntitlementStore) async throws -> Void) async throws
  {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = try SQLiteEntitlementStore(directory: directory)
    // The maximum delay is large, so that a busy test machine fails no check.
    let monitor = HealthMonitor(
      store: store, health: health, maxDelay: .seconds(3600), logger: lines.logger
    ) { [free] in
      free.bytes.withLock { $0 }
    }
    try await body(monitor, store)
    await store.close()
  }

  private func problems(_ monitor: HealthMonitor) -> [HealthCheckResult.Dependency] {
    monitor.results.filter { $0.problem != nil }.map(\.dependency)
  }

  @Test("No service is served before the first checks, and all are after successful ones")
  func begins() async throws {
    try await withMonitor { monitor, _ in
      #expect(!monitor.isReady)
      await monitor.begin()
      #expect(monitor.isReady && problems(monitor).isEmpty)
      for service in Contract.services { #expect(health.status(of: service.name) == .serving) }
    }
  }

  @Test("A full disk stops the writing services only, until there is space again")
  func fullDisk() async throws {
    try await withMonitor { monitor, _ in
      free.bytes.withLock { $0 = 1 << 20 }
      await monitor.begin()
      #expect(problems(monitor) == [.disk])
      #expect(health.status(of: "entitled.v1.ReceiptService") == .notServing)
      #expect(health.status(of: "entitled.v1.EntitlementService") == .serving)
      #expect(monitor.isReady)
      await monitor.check()
      free.bytes.withLock { $0 = 1 << 30 }
      await monitor.begin()
      #expect(
        lines.all == [
          "error health check failed [check: disk, error: 1 MiB free, less than 64]",
          "notice health check succeeds again [check: disk]",
        ], "each change is logged once")
      #expect(health.status(of: "entitled.v1.ReceiptService") == .serving)
    }
  }

  @Test("A store that was removed while it was open ends readiness")
  func removedStore() async throws {
    try await withMonitor { monitor, store in
      await monitor.begin()
      try FileManager.default.removeItem(atPath: directory)
      await monitor.begin()
      #expect(!monitor.isReady)
      #expect(problems(monitor) == [.storeReadable, .storeWritable])
    }
  }

  @Test("A closed store is reported and stops the writing services")
  func closedStore() async throws {
    try await withMonitor { monitor, store in
      await monitor.begin()
      await store.close()
      await monitor.begin()
      #expect(problems(monitor).contains(.storeWritable))
      #expect(health.status(of: "entitled.v1.NotificationService") == .notServing)
    }
  }

  @Test("An invalid configuration is reported and stops no service")
  func configuration() async throws {
    try await withMonitor { monitor, _ in
      monitor.reportConfigurationError("entitled.yaml:3: wrong")
      await monitor.begin()
      #expect(problems(monitor) == [.configuration] && monitor.isReady)
    }
  }

  @Test("While a write waits for the store, checks end in time, and writes count as delayed")
  func waitingWrite() async throws {
    try await withMonitor { _, store in
      let monitor = monitor(of: store)
      let gate = DispatchSemaphore(value: 0)
      let write = Task { try await store.write { (_) throws(StoreError) in gate.wait() } }
      try await check(monitor) { problems(monitor).contains(.writerLag) }
      await monitor.check()
      #expect(problems(monitor).contains(.writerLag))
      #expect(health.status(of: "entitled.v1.NotificationService") == .notServing)
      gate.signal()
      try await write.value
      try await check(monitor) { problems(monitor).isEmpty }
      #expect(health.status(of: "entitled.v1.NotificationService") == .serving)
    }
  }

  @Test("A store that does not answer reads in time ends readiness")
  func waitingRead() async throws {
    try await withMonitor { _, store in
      let silent = monitor(of: SilentStore(store: store))
      await silent.check()
      #expect(problems(silent).contains(.storeReadable) && !silent.isReady)
    }
  }

  @Test(
    "While the database is away, answers from memory keep the service ready; reads that fail otherwise do not for long"
  )
  func bridged() async throws {
    try await withMonitor { _, store in
      let shared = SharedStore(store: store)
      let monitor = monitor(of: shared)
      await monitor.check()
      #expect(monitor.isReady)
      shared.fails.store(true, ordering: .relaxed)
      _ = shared.feed.lost()
      let end = ContinuousClock.now + .milliseconds(200)
      while .now < end {
        await monitor.check()
        #expect(problems(monitor).contains(.storeReadable) && monitor.isReady)
      }
      // A session of the feed works again, and those of the readers do not.
      shared.feed.answered(at: Instant(millisecondsSince1970: 0))
      await monitor.check()
      #expect(monitor.isReady, "they may be opened a moment later")
      try await check(monitor) { !monitor.isReady }
      shared.fails.store(false, ordering: .relaxed)
      await monitor.check()
      #expect(monitor.isReady)
    }
  }

  /// Performs the checks until a condition is met, or the time limit of the test ends it.
  private func check(_ monitor: HealthMonitor, until isMet: () -> Bool) async throws {
    while !isMet() {
      try Task.checkCancellation()
      await monitor.check()
    }
  }

  private func monitor(of store: any EntitlementStore) -> HealthMonitor {
    HealthMonitor(store: store, health: health, maxDelay: .milliseconds(100), logger: lines.logger) {
      1 << 40
    }
  }

  @Test("A late check does not serve a stopping service again")
  func stops() async throws {
    try await withMonitor { monitor, _ in
      await monitor.begin()
      monitor.stop()
      await monitor.begin()
      #expect(!monitor.isReady)
      for service in Contract.services { #expect(health.status(of: service.name) == .notServing) }
    }
  }
}

/// A store to which other processes may write, and whose reads may fail.
private final class SharedStore: StoreWrapper {
  let store: any EntitlementStore
  let feed = StoreFeed(
    terms: [], position: 0, policy: StalenessPolicy(), now: Instant(millisecondsSince1970: 0))
  let fails = Atomic(false)

  init(store: any EntitlementStore) { self.store = store }

  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    if fails.load(ordering: .relaxed) { throw .unavailable("too many connections") }
    return try await store.read(priority, deadline: deadline, body)
  }
}

/// A store whose reads wait until they are cancelled.
private struct SilentStore: StoreWrapper {
  let store: any EntitlementStore

  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try? await Task.sleep(for: .seconds(3600))
    throw .cancelled
  }
}
