import AppStore
import Ledger
import Store
import Synchronization
import TestSupport
import Testing

@Suite struct RetentionTests {
  @Test("The worker purges the bodies that became old enough each day")
  func daily() async throws {
    try await LedgerFixture.run { fixture in
      for day in [50, 51, 53] as [Int64] {
        fixture.clock.set(at(day))
        _ = try await fixture.submit(try fixture.period(day...day + 30, line: "L\(day)"))
      }
      let lines = LogLines()
      let left = Mutex<[Int]>([])
      let worker = PurgeWorker(
        [.init(.documents, days: 10)], store: fixture.store,
        clocks: ServiceClocks(ServiceClock(now: { fixture.clock.now })),
        sleep: { duration in
          #expect(duration == .seconds(86_400))
          let bodies = try await bodies(in: fixture.store)
          left.withLock { $0.append(bodies) }
          // Stops the worker when all bodies are purged.
          guard bodies > 0 else { throw CancellationError() }
          fixture.clock.set(fixture.clock.now.advanced(byMilliseconds: 86_400_000))
        }, logger: lines.logger)
      fixture.clock.set(at(59))
      try await worker.run()
      // Days 59 to 64: a body is purged when it is ten days old, and not before.
      #expect(left.withLock { $0 } == [3, 3, 2, 1, 1, 0])
      #expect(lines.all == Array(repeating: "notice evidence bodies purged [count: 1]", count: 3))
    }
  }

  @Test("Old requests for retention messages are deleted page by page, and later ones stay")
  func requests() async throws {
    try await LedgerFixture.run { fixture in
      let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
      try await fixture.store.write { store throws(StoreError) in
        for number in 0..<1_001 {
          let received = number < 1_000 ? at(40) : at(41)
          try store.insert(
            RetentionRequestRecord(
              requestID: "R\(number)", line: line, productID: "monthly", askedAt: received,
              receivedAt: received))
        }
      }
      let worker = PurgeWorker(
        [], requestDays: 91, store: fixture.store, clocks: ServiceClocks(ServiceClock(now: { at(132) })),
        sleep: { _ in throw CancellationError() })
      try await worker.run()
      let left = try await fixture.store.snapshot { reader throws(StoreError) in
        try reader.retentionRequests(RetentionRequestFilter(appID: "ocean", limit: 9))
      }
      #expect(left.map(\.requestID) == ["R1000"])
    }
  }

  @Test("Audit entries are deleted after the configured number of days, and stay without one")
  func auditEntries() async throws {
    try await LedgerFixture.run { fixture in
      try await fixture.store.write { store throws(StoreError) in
        for (day, note) in [(40, "old"), (41, "new")] as [(Int64, String)] {
          try store.append(
            AuditEntry(
              at: at(day), caller: "c", actor: "", method: "m", appID: "ocean", customerIDs: [], subject: "",
              note: note, outcome: "OK", requestID: "", address: ""))
        }
      }
      for (days, left) in [(nil, ["new", "old"]), (91, ["new"])] as [(Int?, [String])] {
        let worker = PurgeWorker(
          [], auditDays: days, store: fixture.store, clocks: ServiceClocks(ServiceClock(now: { at(132) })),
          sleep: { _ in throw CancellationError() })
        try await worker.run()
        let entries = try await fixture.store.snapshot { reader throws(StoreError) in
          try reader.auditEntries(AuditFilter(limit: 9))
        }
        #expect(entries.map(\.note) == left)
      }
    }
  }

  @Test(
    "Audit entries that the same transaction finds stored are not stored again", arguments: [true, false])
  func repeatedAuditEntries(areNew: Bool) async throws {
    try await LedgerFixture.run { fixture in
      let entry = AuditEntry(
        at: at(40), caller: "c", actor: "", method: "m", appID: "ocean", customerIDs: [], subject: "",
        note: "", outcome: "OK", requestID: "", address: "")
      try await fixture.ledger.append([entry, entry]) { _ in areNew }
      let entries = try await fixture.store.snapshot { reader throws(StoreError) in
        try reader.auditEntries(AuditFilter(limit: 9))
      }
      #expect(entries.count == (areNew ? 2 : 0))
    }
  }

  @Test("Without rules the worker purges no bodies")
  func noRules() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(try fixture.period(50...80))
      let worker = PurgeWorker(
        [], store: fixture.store, clocks: ServiceClocks(ServiceClock(now: { at(9_000) })),
        sleep: { _ in throw CancellationError() })
      try await worker.run()
      #expect(try await bodies(in: fixture.store) == 1)
    }
  }

  @Test("A failure of the store is thrown, so that the supervisor restarts the worker")
  func failure() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(try fixture.period(50...80))
      await fixture.store.close()
      let worker = PurgeWorker(
        [.init(.documents, days: 10)], store: fixture.store,
        clocks: ServiceClocks(ServiceClock(now: { at(70) })),
        sleep: { _ in Issue.record("the rules were not applied") })
      await #expect(throws: StoreError.self) { try await worker.run() }
    }
  }

  private func bodies(in store: any EntitlementStore) async throws -> Int {
    try await store.snapshot { try $0.evidence(after: nil, limit: 9) }.count {
      $0.evidence.content.body != nil
    }
  }
}
