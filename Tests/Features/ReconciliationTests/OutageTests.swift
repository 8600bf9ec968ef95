import AppStore
import AppStoreClient
import AppStoreSupport
import Entitlements
import SQLiteStore
import Store
import Testing

@testable import Reconciliation
@testable import Sandbox

@Suite("Outages of the App Store, and purchases that always fail") struct OutageTests {
  private static let error = IncomingResponse(
    status: 500, headers: [("content-type", "application/json")],
    body: Array(#"{"errorCode":5000000,"errorMessage":"An unknown error occurred."}"#.utf8))

  /// Longer than the pauses of a repair.
  private static let pause: Int64 = 70

  @Test("In an outage with error codes, a repair leaves no purchase out, however long it lasts")
  func outage() async throws {
    try await SimulatedAppStore.run { service in
      let failing = [try await service.buy("ann").lineID, try await service.buy("ben").lineID, "history"]
      try await service.advance(byMinutes: 60)
      for id in failing { service.exchange.respond(toCallsAbout: id, with: Self.error) }
      try await service.withReconciler { reconciler in
        let (poll, _) = try await reconciler.repair(service.fullPoll, timeout: nil)
        #expect(poll.finishedAt == nil && !poll.error.isEmpty)
        for _ in 0..<7 {
          try await service.advance(byMinutes: Self.pause)
          let (manual, _) = try await reconciler.repair(service.manualRepair, timeout: nil)
          #expect(manual.finishedAt == nil && !manual.error.isEmpty)
        }
        for id in failing { service.exchange.respond(toCallsAbout: id, with: nil) }
        try await service.advance(byMinutes: Self.pause)
        service.wait(.seconds(300))
        let (manual, _) = try await reconciler.repair(service.manualRepair, timeout: nil)
        #expect(manual.finishedAt != nil)
        let finished = try #require(try await service.stored(poll))
        #expect(finished.finishedAt != nil && finished.partialError.isEmpty)
        #expect(finished.queriedPurchases == 2)
      }
    }
  }

  @Test("Purchases that always fail hold neither other repairs nor the end of their own")
  func failingPurchases() async throws {
    try await SimulatedAppStore.run { service in
      // Together they open the circuit.
      var failing: [LineKey] = []
      for number in 0..<12 { failing.append(try await service.buy("failing-\(number)")) }
      try await service.advance(byMinutes: 60)
      for line in failing { service.exchange.respond(toCallsAbout: line.lineID, with: Self.error) }
      try await service.withReconciler { reconciler in
        var (poll, _) = try await reconciler.repair(service.fullPoll, timeout: nil)
        #expect(poll.finishedAt == nil && !poll.error.isEmpty)
        var rounds = 0
        while poll.finishedAt == nil, rounds < 10 {
          rounds += 1
          try await service.advance(byMinutes: Self.pause)
          service.wait(.seconds(300))
          _ = try await reconciler.repair(service.manualRepair, timeout: nil)
          poll = try #require(try await service.stored(poll))
        }
        #expect(poll.partialError.contains("12 purchases"))
        let (manual, _) = try await reconciler.repair(service.manualRepair, timeout: nil)
        #expect(manual.finishedAt != nil && manual.error.isEmpty)
      }
    }
  }

  @Test("A reconciler that leads again has no retries of repairs that another leader finished")
  func newTerm() async throws {
    try await SimulatedAppStore.run { service in
      let ann = try await service.buy("ann")
      try await service.advance(byMinutes: 60)
      service.exchange.respond(toCallsAbout: ann.lineID, with: Self.error)
      let reconciler = AppReconciler(
        SimulatedAppStore.target, ReconciliationPolicy(pollsStatuses: false, repairsGaps: false),
        Reconciler.Dependencies(
          store: service.store, ledger: service.ledger, inbox: service.inbox, lookup: service.lookup,
          catalog: service.catalog, cadence: DeliveryCadence(), clocks: service.clocks))
      let repair = try await reconciler.begin(service.fullPoll)
      await tick(reconciler)
      #expect(await Array(reconciler.retries.keys) == [repair.id])
      try await service.store.write { store throws(StoreError) in
        var finished = repair
        finished.finishedAt = repair.startedAt
        try store.put(finished)
      }
      await tick(reconciler)
      #expect(await reconciler.retries.isEmpty)
    }
  }

  /// Leads for one tick.
  private func tick(_ reconciler: AppReconciler) async {
    let ticks = await reconciler.idleSignals()
    let running = Task { try? await reconciler.run() }
    for await _ in ticks { break }
    running.cancel()
    await running.value
  }
}
