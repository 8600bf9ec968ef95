import AppStore
import AppStoreClient
import AppStoreSupport
import Foundation
import Ledger
import SQLiteStore
import Store
import Testing

@testable import ReceiptMigration
@testable import Sandbox

@Suite("Queued lookups of receipts") struct RefreshWorkerTests {
  /// Submits a receipt while the App Store is unreachable; returns its queued lookup.
  private func queueLookup(_ service: ReceiptService, _ receipt: String) async throws -> PendingRefresh {
    service.appStore.exchange.fail(with: .unreachable("reset"))
    _ = try await service.submit(.text(receipt))
    service.appStore.exchange.fail(with: nil)
    return try #require(try await queued(service))
  }

  /// The queued lookup; `nil` if there is none.
  private func queued(_ service: ReceiptService) async throws -> PendingRefresh? {
    try await service.appStore.store.read { snapshot throws(StoreError) in
      try snapshot.refreshes(dueBy: Instant(millisecondsSince1970: .max), in: .all, limit: 1)
    }.first
  }

  /// Runs the worker until the queue is empty, and returns whether it is within ten seconds.
  private func runWorker(_ service: ReceiptService) async throws -> Bool {
    let clock = service.appStore.simulator.clock
    let worker = RefreshWorker(
      service.intake, store: service.appStore.store, clock: ServiceClock(now: { clock.now() }))
    let running = Task { try await worker.run() }
    defer { running.cancel() }
    for _ in 0..<200 {
      if try await queued(service) == nil { return true }
      try await Task.sleep(for: .milliseconds(50))
    }
    return false
  }

  @Test("A lookup that was postponed by a clock that was ahead is made when the worker starts")
  func clockSetBack() async throws {
    try await ReceiptService.run { service in
      var refresh = try await queueLookup(service, try await service.receipt())
      refresh.dueAt = refresh.dueAt.advanced(byMilliseconds: 40 * Instant.millisecondsPerDay)
      try await service.appStore.ledger.postpone(refresh)
      #expect(try await runWorker(service))
    }
  }

  @Test("The lookup of a large account takes longer than the timeout of one call")
  func largeAccount() async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let simulator = service.appStore.simulator
      // More renewals than a page has.
      try await simulator.advanceClock(
        to: simulator.clock.now().advanced(byMilliseconds: 800 * Instant.millisecondsPerDay))
      var refresh = try await queueLookup(service, receipt)
      refresh.dueAt = simulator.clock.now()
      try await service.appStore.ledger.postpone(refresh)
      service.appStore.exchange.slowDown(to: .seconds(25))
      let calls = service.appStore.exchange.paths.count
      #expect(try await runWorker(service))
      #expect(service.appStore.exchange.paths.count == calls + 3, "two pages and the statuses")
    }
  }
}
