internal import AppStore
internal import Entitlements
package import Ledger
internal import Metrics
internal import Platform
internal import Reports
package import Store

/// Exports the main numbers of each app as gauges, of the last whole day and of the present one, and the number of members
/// of each saved segment. They have no labels that name a customer or that grow with the number of customers.
package struct BusinessGauges: Worker {
  package let name = "business_gauges"
  private static let interval = Duration.seconds(60)

  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let clocks: ServiceClocks
  private let sleep: @Sendable (Duration) async throws -> Void

  package init(
    store: any EntitlementStore, catalog: CurrentCatalog, clocks: ServiceClocks,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.store = store
    self.catalog = catalog
    self.clocks = clocks
    self.sleep = sleep
  }

  /// Exports the numbers at once and then each minute until the task is cancelled.
  ///
  /// - Throws: the first ``StoreError``; the supervisor starts it again.
  package func run() async throws {
    repeat {
      for app in catalog.value.appIDs.compactMap({ catalog.value[$0] }) {
        for environment in app.environments { try await export(app.id, environment) }
      }
    } while (try? await sleep(Self.interval)) != nil
  }

  private func export(_ appID: String, _ environment: Environment) async throws(StoreError) {
    let now = clocks.now(in: environment)
    let labels = [("app", appID), ("environment", environment.rawValue)]
    let today = ReportDay(now)
    for name in [Report.Name.subscriptions, .movements, .recurringRevenue, .revenue] {
      let query = ReportQuery(name, from: today.advanced(by: -1), to: today.advanced(by: 1))
      let sums = try await store.read(.background) { reader throws(StoreError) in
        try reader.reportSums(query, of: appID, in: environment)
      }
      // None of these reports mixes periods of different lengths.
      guard let table = try? ReportTable(query, sums) else { continue }
      for row in table.rows {
        record(row, of: query.report, labels + [("day", row.bucket == today ? "today" : "yesterday")])
      }
    }
    let members = try await store.read(.background) { reader throws(StoreError) in
      let broken = try reader.brokenDays(
        from: ReportDay(number: -.max / 2), to: ReportDay(number: .max / 2), knownBy: nil, of: appID,
        in: environment)
      Gauge(label: "entitled_report_identity_broken", dimensions: labels).record(broken.count)
      let backlog = try reader.reportBacklog(of: appID, in: environment, at: now)
      Gauge(label: "entitled_report_backlog", dimensions: labels).record(backlog.purchases)
      Gauge(label: "entitled_report_lag_seconds", dimensions: labels)
        .record(max(0, backlog.since.map { now.milliseconds(since: $0) / 1_000 } ?? 0))
      return try reader.segments(of: AppEnvironment(appID: appID, environment: environment)).map {
        segment throws(StoreError) in
        (segment.name, try reader.memberCount(SegmentQuery(segment, at: now)))
      }
    }
    for (segment, count) in members {
      Gauge(label: "entitled_segment_members", dimensions: labels + [("segment", segment)]).record(count)
    }
  }

  private func record(_ row: ReportTable.Row, of report: Report, _ labels: [(String, String)]) {
    for (column, value) in zip(report.columns, row.values) {
      switch (report.name, column.name) {
      case (.subscriptions, let state):
        Gauge(label: "entitled_subscriptions", dimensions: labels + [("state", state)]).record(value)
      case (.movements, let movement) where column.span == .bucket:
        Gauge(label: "entitled_subscription_movements", dimensions: labels + [("movement", movement)])
          .record(value)
      case (.recurringRevenue, "closing"):
        Gauge(
          label: "entitled_recurring_thousandths_per_year", dimensions: labels + [("currency", row.currency)]
        ).record(value)
      case (.revenue, "net"):
        Gauge(label: "entitled_revenue_thousandths", dimensions: labels + [("currency", row.currency)])
          .record(value)
      default: break
      }
    }
  }
}

extension SegmentQuery {
  /// All members of a saved segment.
  fileprivate init(_ segment: SavedSegment, at now: Instant) {
    self.init(segment.conditions, of: segment.appEnvironment, at: now, limit: 0)
  }
}
