import Entitlements
import JSON
import Ledger
import MetricsTestKit
import Reporting
import Reports
import Store
import Synchronization
import TestSupport
import Testing

/// The gauges of the business; no other test records them.
@Suite(.serialized) struct BusinessGaugeTests {
  private func last(_ label: String, _ labels: (String, String)...) throws -> Double? {
    let ofApp = [("app", "ocean"), ("environment", "Sandbox")]
    return try TestMetrics.ofProcess.expectGauge(label, ofApp + labels).lastValue
  }

  @Test("A number becomes 0 when its report has no row for it any longer")
  func withoutRows() async throws {
    // Before the first metric is made.
    _ = TestMetrics.ofProcess
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(50...80, ["price": 9_990, "currency": "USD"]))
      let clock = ServiceClock { [clock = fixture.clock] in clock.now }
      let reports = ReportLedger(store: fixture.store, catalog: fixture.catalog, clock: clock)
      try await reports.run()
      let rounds = Mutex(0)
      let gauges = BusinessGauges(
        store: fixture.store, catalog: fixture.catalog, clocks: ServiceClocks(clock)
      ) { [time = fixture.clock] _ in
        let round = rounds.withLock { rounds in
          rounds += 1
          return rounds
        }
        guard round == 1 else { throw CancellationError() }
        let active = try last(
          "entitled_subscriptions", ("product", "monthly"), ("state", "active"), ("day", "today"))
        #expect(active == 1)
        #expect(try last("entitled_revenue_thousandths", ("currency", "USD"), ("day", "today")) == 9_990)
        time.set(at(100))
        try await reports.run()
      }
      try await gauges.run()
      let active = try last(
        "entitled_subscriptions", ("product", "monthly"), ("state", "active"), ("day", "today"))
      #expect(active == 0)
      #expect(try last("entitled_revenue_thousandths", ("currency", "USD"), ("day", "today")) == 0)
      // It is eight o'clock, and the day before closed at six.
      #expect(try last("entitled_report_oldest_open_day_seconds") == 28_800)
    }
  }

  @Test("Numbers of any size are added up, and an error of the store neither counts twice nor keeps a gauge")
  func restart() async throws {
    let counter = [("app", "ocean"), ("environment", "Sandbox"), ("cause", "REFUND_LEARNED_LATE")]
    try await LedgerFixture.run { fixture in
      let scope = CommandScope(appID: "ocean", environment: .sandbox)
      _ = try await fixture.ledger.createSegment("vip", SegmentFilter(), scope)
      _ = try await fixture.submit(fixture.period(40...70, ["price": 9_990, "currency": "USD"]))
      let clock = ServiceClock { [clock = fixture.clock] in clock.now }
      let reports = ReportLedger(store: fixture.store, catalog: fixture.catalog, clock: clock)
      try await reports.run()
      let refund: JSONObject = [
        "price": 9_990, "currency": "USD", "revocationReason": 0,
        "revocationDate": .number(JSONNumber(at(45).millisecondsSince1970)),
      ]
      _ = try await fixture.submit(fixture.period(40...70, signed: 49, refund))
      try await reports.run()
      let days = [Int64(1), 2].map { number in
        var day = ReconciledDay(day: ReportDay(number: number), report: "SUBSCRIBER", recordedAt: at(50))
        day.unexplained = .max
        return day
      }
      try await fixture.ledger.record(days, of: "ocean", in: .sandbox)
      let store = BrokenStore(store: fixture.store)
      let gauges = BusinessGauges(store: store, catalog: fixture.catalog, clocks: ServiceClocks(clock)) { _ in
        throw CancellationError()
      }
      try await gauges.run()
      let revisions = try TestMetrics.ofProcess.expectCounter("entitled_report_revisions_total", counter)
      #expect(try last("entitled_segment_members", ("segment", "vip")) == 1)
      #expect(try last("entitled_reconciliation_unexplained", ("report", "SUBSCRIBER")) == Double(Int64.max))
      let counted = revisions.totalValue
      #expect(counted > 0)
      _ = try await fixture.ledger.deleteSegment("vip", scope)
      store.isBroken.store(true, ordering: .relaxed)
      await #expect(throws: StoreError.self) { try await gauges.run() }
      store.isBroken.store(false, ordering: .relaxed)
      try await gauges.run()
      #expect(try last("entitled_segment_members", ("segment", "vip")) == 0)
      #expect(revisions.totalValue == counted)
    }
  }
}

/// A store that cannot be read while ``isBroken``.
private final class BrokenStore: StoreWrapper {
  let store: any EntitlementStore
  let isBroken = Atomic(false)

  init(store: any EntitlementStore) { self.store = store }

  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    if isBroken.load(ordering: .relaxed) { throw .unavailable("broken") }
    return try await store.read(priority, deadline: deadline, body)
  }
}
