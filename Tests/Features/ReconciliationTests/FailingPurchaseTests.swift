import AppStore
import AppStoreClient
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import Logging
import Notifications
import Platform
import SQLiteStore
import SignedData
import Store
import TestSupport
import Testing

@testable import Reconciliation
@testable import Sandbox

@Suite("Purchases for which the App Store responds with errors", .timeLimit(.minutes(10)))
struct FailingPurchaseTests {
  private static let minute: Int64 = 60_000
  private static let error = IncomingResponse(
    status: 404, headers: [("content-type", "application/json")],
    body: Array(#"{"errorCode":4040002,"errorMessage":"Account not found. Please try again."}"#.utf8))

  private func run(
    _ repair: Repair, _ service: SimulatedAppStore, isLastAttempt: Bool = false,
    positions: HistoryPositions = HistoryPositions()
  ) async throws -> Repair {
    let clock = service.simulator.clock
    return try await GapRepair(
      store: service.store, ledger: service.ledger, inbox: service.inbox, lookup: service.lookup,
      positions: positions, app: LivedWorld.definition, includesPolls: false, isLastAttempt: isLastAttempt,
      now: { clock.now() }
    ).run(repair)
  }

  private func isRevoked(_ line: LineKey, _ service: SimulatedAppStore) async throws -> Bool {
    try await service.store.read { reader throws(StoreError) in
      try reader.facts(of: line).transactions.contains { $0.revocationDate != nil }
    }
  }

  @Test("A repair looks up all other purchases, waits for the failing one, and leaves it out in the end")
  func repair() async throws {
    try await SimulatedAppStore.run { service in
      let (ann, ben) = (try await service.buy("ann"), try await service.buy("ben"))
      try await service.advance(byMinutes: 60)
      _ = try await service.simulator.perform(.refund, Parameters(["transactionId": .string(ben.lineID)]))
      service.exchange.respond(toCallsAbout: ann.lineID, with: Self.error)
      let repair = service.fullPoll
      let begun = try await service.store.write { store throws(StoreError) in try store.begin(repair) }

      let waiting = try await run(begun, service)
      #expect(waiting.finishedAt == nil && waiting.queriedPurchases == 1)
      #expect(waiting.error.hasPrefix("lookup failed for purchase \(ann.lineID): App Store rejected"))
      #expect(try await isRevoked(ben, service))
      let queued = try await service.store.snapshot {
        try $0.queuedLines(of: waiting, after: nil, limit: 9)
      }
      #expect(queued == [ann])

      let last = try await run(waiting, service, isLastAttempt: true)
      #expect(last.finishedAt != nil && last.error.isEmpty)
      #expect(last.partialError == waiting.error)

      let left = try await service.store.snapshot { try $0.queuedLines(of: last, after: nil, limit: 9) }
      #expect(left.isEmpty)
    }
  }

  @Test("A lookup that failed at a later page of the history continues there")
  func laterPage() async throws {
    try await SimulatedAppStore.run { service in
      let line = try await service.buy("ann")
      // More renewals than a page has.
      try await service.advance(byMinutes: 800 * 24 * 60)
      var order = service.manualRepair
      order.phase = .customers
      let repair = try await service.store.write { [order] store throws(StoreError) in
        let repair = try store.begin(order)
        try store.enqueue(line, for: repair.id)
        return repair
      }
      let (positions, exchange) = (HistoryPositions(), service.exchange)
      exchange.interruptNextResponse { exchange.fail(with: .unreachable("reset")) }
      await #expect(throws: ReconciliationError.self) {
        try await run(repair, service, positions: positions)
      }
      exchange.fail(with: nil)
      let calls = exchange.paths.count
      #expect(try await run(repair, service, positions: positions).finishedAt != nil)
      #expect(exchange.paths.count == calls + 2, "one page and the statuses")
      let facts = try await service.store.snapshot { try $0.facts(of: line) }
      #expect(facts.transactions.count > 20)
    }
  }

  @Test("A repair that waits for a failing purchase does not delay the next one")
  func nextRepair() async throws {
    try await SimulatedAppStore.run { service in
      let ann = try await service.buy("ann")
      try await service.advance(byMinutes: 60)
      service.exchange.respond(toCallsAbout: ann.lineID, with: Self.error)
      try await service.withReconciler { reconciler in
        let (first, _) = try await reconciler.repair(service.fullPoll, timeout: nil)
        #expect(first.finishedAt == nil && first.error.contains(ann.lineID))
        let (second, _) = try await reconciler.repair(service.manualRepair, timeout: nil)
        #expect(second.finishedAt != nil && second.error.isEmpty)
      }
    }
  }

  @Test("Status polls that fail are postponed, so that the others are made")
  func polls() async throws {
    try await SimulatedAppStore.run { service in
      var failing: [LineKey] = []
      for number in 0..<33 { failing.append(try await service.buy("failing-\(number)")) }
      try await service.simulator.advanceClock(to: LivedWorld.start.advanced(byMilliseconds: 5_000))
      let good = try await service.buy("good")
      for line in failing { service.exchange.respond(toCallsAbout: line.lineID, with: Self.error) }
      let end = try #require(
        try await service.store.read { reader throws(StoreError) in
          try reader.facts(of: good).transactions.first?.expiresDate
        })
      try await service.simulator.advanceClock(to: end.advanced(byMilliseconds: 1))
      let clock = service.simulator.clock
      let polling = StatusPolling(
        store: service.store, ledger: service.ledger, lookup: service.lookup, app: LivedWorld.definition,
        target: SimulatedAppStore.target, metrics: ReconciliationMetrics(SimulatedAppStore.target),
        now: { clock.now() })
      try await polling.run()
      #expect(service.exchange.paths.contains { $0.hasSuffix("/" + good.lineID) })
      let next = try await service.store.snapshot { try $0.nextPoll(of: "demo", in: .sandbox) }
      let wait = try #require(next).milliseconds(since: clock.now())
      #expect(wait >= Self.minute && wait < 60 * Self.minute)

      // While the App Store is unreachable, all polls stay due.
      try await service.simulator.advanceClock(to: clock.now().advanced(byMilliseconds: 60 * Self.minute))
      service.exchange.fail(with: .unreachable("reset"))
      await #expect(throws: ReconciliationError.self) { try await polling.run() }
      let backlog = try await service.store.snapshot {
        try $0.pollBacklog(of: "demo", in: .sandbox, by: clock.now())
      }
      #expect(backlog >= 33)
    }
  }

  @Test("A repair is retried after growing pauses, five times in all")
  func pauses() {
    var retry = RepairRetry()
    #expect(retry.isDue(at: at(0)))
    retry.fail(at: at(0))
    var (now, pauses) = (at(0), [Int64]())
    while !retry.isLast, pauses.count < 9 {
      pauses.append(retry.dueAt.milliseconds(since: now) / Self.minute)
      now = retry.dueAt
      retry.fail(at: now)
    }
    #expect(pauses == [1, 4, 16] && retry.dueAt.milliseconds(since: now) == 64 * Self.minute)
    #expect(!retry.isDue(at: now) && retry.isDue(at: retry.dueAt))
    #expect(retry.isDue(at: now.advanced(byMilliseconds: -1)), "the clock was set back")
  }
}
