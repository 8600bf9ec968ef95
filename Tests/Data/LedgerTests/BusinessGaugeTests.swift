import Ledger
import MetricsTestKit
import Reporting
import Synchronization
import TestSupport
import Testing

/// The gauges of the business; no other test records them.
@Suite struct BusinessGaugeTests {
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
}
