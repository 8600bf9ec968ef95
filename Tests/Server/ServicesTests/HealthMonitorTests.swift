import Entitlements
import Foundation
import RPC
import SQLiteStore
import Store
import Synchronization
import Testing
import Wire

@testable import Services

@Suite struct HealthMonitorTests {
  private let free = Free()
  private let health = HealthService(services: Contract.services.map(\.name))

  /// What a test lets a disk have.
  private final class Free: Sendable {
    let bytes = Mutex<Int64?>(1 << 40)
  }

  private func withMonitor(_ body: (HealthMonitor, SQLiteEntitlementStore) async throws -> Void) async throws
  {
    let directory = FileManager.default.temporaryDirectory.appending(path: "health-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = try SQLiteEntitlementStore(directory: directory)
    // How busy the machine is that runs the tests is no finding.
    let monitor = HealthMonitor(store: store, health: health, maxWriteDelay: .seconds(3600)) { [free] in
      free.bytes.withLock { $0 }
    }
    try await body(monitor, store)
    await store.close()
  }

  private func problems(_ monitor: HealthMonitor) -> [HealthCheckResult.Dependency] {
    monitor.findings.filter { $0.problem != nil }.map(\.dependency)
  }

  @Test("Nothing is served before the first look, and everything after one that finds nothing wrong")
  func begins() async throws {
    try await withMonitor { monitor, _ in
      #expect(!monitor.isReady)
      await monitor.begin()
      #expect(monitor.isReady && problems(monitor).isEmpty)
      for service in Contract.services { #expect(health.status(of: service.name) == .serving) }
    }
  }

  @Test("A full disk stops what writes; questions are answered, until there is room again")
  func fullDisk() async throws {
    try await withMonitor { monitor, _ in
      free.bytes.withLock { $0 = 1 << 20 }
      await monitor.begin()
      #expect(problems(monitor) == [.disk])
      #expect(health.status(of: "entitled.v1.ReceiptService") == .notServing)
      #expect(health.status(of: "entitled.v1.EntitlementService") == .serving)
      #expect(monitor.isReady)
      free.bytes.withLock { $0 = 1 << 30 }
      await monitor.begin()
      #expect(health.status(of: "entitled.v1.ReceiptService") == .serving)
    }
  }

  @Test("A store that was let go of is told, and what writes is stopped")
  func closedStore() async throws {
    try await withMonitor { monitor, store in
      await monitor.begin()
      await store.close()
      await monitor.begin()
      #expect(problems(monitor).contains(.storeWritable))
      #expect(health.status(of: "entitled.v1.NotificationService") == .notServing)
    }
  }

  @Test("A configuration that cannot be used is told and stops nothing")
  func configuration() async throws {
    try await withMonitor { monitor, _ in
      monitor.reportConfigurationError("entitled.yaml:3: wrong")
      await monitor.begin()
      #expect(problems(monitor) == [.configuration] && monitor.isReady)
    }
  }

  @Test("A service that stops is not served again by a look that comes late")
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
