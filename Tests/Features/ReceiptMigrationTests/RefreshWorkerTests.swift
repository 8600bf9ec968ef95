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

  /// Runs the worker until the queue is empty, or its first lookup as `isDone`, and returns whether it is within ten
  /// seconds.
  private func runWorker(
    _ service: ReceiptService, maxResponses: Int = 50,
    until isDone: (PendingRefresh?) -> Bool = { $0 == nil }
  ) async throws -> Bool {
    let clock = service.appStore.simulator.clock
    let worker = RefreshWorker(
      service.intake, store: service.appStore.store, clock: ServiceClock(now: { clock.now() }),
      maxResponses: maxResponses)
    let running = Task { try await worker.run() }
    defer { running.cancel() }
    for _ in 0..<200 {
      if isDone(try await queued(service)) { return true }
      try await Task.sleep(for: .milliseconds(50))
    }
    return false
  }

  /// Queues the lookup of an account with more renewals than a page has; it is due now.
  private func queueLargeLookup(_ service: ReceiptService) async throws -> PendingRefresh {
    let receipt = try await service.receipt()
    let simulator = service.appStore.simulator
    try await simulator.advanceClock(
      to: simulator.clock.now().advanced(byMilliseconds: 800 * Instant.millisecondsPerDay))
    var refresh = try await queueLookup(service, receipt)
    refresh.dueAt = simulator.clock.now()
    try await service.appStore.ledger.postpone(refresh)
    return refresh
  }

  private func transactionCount(_ line: LineKey, _ service: ReceiptService) async throws -> Int {
    try await service.appStore.store.snapshot { try $0.facts(of: line).transactions.count }
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
      _ = try await queueLargeLookup(service)
      service.appStore.exchange.slowDown(to: .seconds(25))
      let calls = service.appStore.exchange.paths.count
      #expect(try await runWorker(service))
      #expect(service.appStore.exchange.paths.count == calls + 3, "two pages and the statuses")
    }
  }

  @Test("A lookup that failed at a later page continues there, and keeps the earlier ones")
  func laterPage() async throws {
    try await ReceiptService.run { service in
      var refresh = try await queueLargeLookup(service)
      let exchange = service.appStore.exchange
      exchange.interruptNextResponse { exchange.fail(with: .unreachable("reset")) }
      #expect(try await runWorker(service) { $0?.revision != nil })
      refresh = try #require(try await queued(service))
      #expect(refresh.attempts == 1 && refresh.reason == "APP_STORE_UNAVAILABLE")
      #expect(try await transactionCount(refresh.line, service) == 20)
      exchange.fail(with: nil)
      refresh.dueAt = service.appStore.simulator.clock.now()
      try await service.appStore.ledger.postpone(refresh)
      let calls = exchange.paths.count
      #expect(try await runWorker(service))
      #expect(exchange.paths.count == calls + 2, "one page and the statuses")
      #expect(try await transactionCount(refresh.line, service) > 20)
    }
  }

  @Test("The lookup of a large account lets others pass")
  func others() async throws {
    try await ReceiptService.run { service in
      let large = try await queueLargeLookup(service)
      let small = try await service.purchase(of: "b").originalTransactionId
      try await service.appStore.ledger.postpone(
        PendingRefresh(
          line: large.line.other(small), dueAt: service.appStore.simulator.clock.now(), reason: ""))
      let calls = service.appStore.exchange.paths.count
      #expect(try await runWorker(service, maxResponses: 2))
      let history = "/inApps/v2/history/"
      let statuses = "/inApps/v1/subscriptions/"
      #expect(
        service.appStore.exchange.paths.dropFirst(calls) == [
          history + large.line.lineID, history + large.line.lineID, history + small, statuses + small,
          // It has nothing after the last page.
          history + large.line.lineID, statuses + large.line.lineID,
        ])
      #expect(try await transactionCount(large.line, service) > 20)
    }
  }
}
