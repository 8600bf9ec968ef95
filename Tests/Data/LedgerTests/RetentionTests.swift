import AppStore
import Ledger
import Store
import Synchronization
import TestSupport
import Testing

@Suite struct RetentionTests {
  @Test("Each day the bodies go that became old enough, and the days go on until the task is cancelled")
  func daily() async throws {
    try await LedgerFixture.run { fixture in
      for day in [50, 51, 53] as [Int64] {
        fixture.clock.set(at(day))
        _ = try await fixture.submit(try fixture.period(day...day + 30, line: "L\(day)"))
      }
      let reports = Mutex<[String]>([])
      let left = Mutex<[Int]>([])
      let retention = EvidenceRetention(
        [.init(.documents, days: 10)], store: fixture.store, now: { fixture.clock.now },
        sleep: { duration in
          #expect(duration == .seconds(86_400))
          let bodies = try bodies(in: fixture.store)
          left.withLock { $0.append(bodies) }
          // As long as there is something to wait for.
          guard bodies > 0 else { throw CancellationError() }
          fixture.clock.set(fixture.clock.now.advanced(byMilliseconds: 86_400_000))
        }
      ) { report in reports.withLock { $0.append(report) } }
      fixture.clock.set(at(59))
      await retention.run()
      // Days 59 to 64: a piece is old enough when ten days have passed and not before.
      #expect(left.withLock { $0 } == [3, 3, 2, 1, 1, 0])
      #expect(
        reports.withLock { $0 }
          == Array(repeating: "forgot the bodies of 1 pieces of evidence", count: 3))
    }
  }

  @Test("Without rules nothing is done and nothing waited for")
  func noRules() async throws {
    try await LedgerFixture.run { fixture in
      let retention = EvidenceRetention(
        [], store: fixture.store, now: { fixture.clock.now },
        sleep: { _ in Issue.record("there is nothing to wait for") }, report: { Issue.record("\($0)") })
      await retention.run()
    }
  }

  @Test("A day on which the store fails is told of, and the next day makes up for it")
  func failure() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(try fixture.period(50...80))
      await fixture.store.close()
      let reports = Mutex<[String]>([])
      let retention = EvidenceRetention(
        [.init(.documents, days: 10)], store: fixture.store, now: { at(70) },
        sleep: { _ in if reports.withLock({ $0.count }) == 2 { throw CancellationError() } }
      ) { report in reports.withLock { $0.append(report) } }
      await retention.run()
      #expect(
        reports.withLock { $0 }.allSatisfy { $0.hasPrefix("bodies of old evidence could not be forgotten") })
      #expect(reports.withLock { $0.count } == 2)
    }
  }

  private func bodies(in store: any EntitlementStore) throws -> Int {
    try store.makeReader().evidence(after: nil, limit: 9).count { $0.evidence.content.body != nil }
  }
}
