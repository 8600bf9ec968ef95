internal import AppStore
internal import Entitlements
package import Ledger
internal import Platform
internal import Reports
package import Store

/// Exports the main numbers of each app as gauges once a minute: those of the last whole day and of the present one,
/// the state of the reports, and the number of members of each saved segment.
///
/// The gauges have no labels that name a customer or that grow with the number of customers.
package struct BusinessGauges: Worker {
  package let name = "business_gauges"
  private static let interval = Duration.seconds(60)

  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let clocks: ServiceClocks
  private let gauges = ExportedGauges()
  private let sleep: @Sendable (Duration) async throws -> Void

  /// Creates a worker that exports nothing until ``run()``. `clocks` define the present day of each environment;
  /// `sleep` is the interval's clock, which tests replace.
  package init(
    store: any EntitlementStore, catalog: CurrentCatalog, clocks: ServiceClocks,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.store = store
    self.catalog = catalog
    self.clocks = clocks
    self.sleep = sleep
  }

  private typealias Labels = [(name: String, value: String)]

  /// Exports the numbers at once and then each minute until the task is cancelled.
  ///
  /// - Throws: the first ``StoreError``; the supervisor starts it again.
  package func run() async throws {
    // A replica that no longer leads knows nothing of later changes; the next leader exports the numbers.
    defer { if Task.isCancelled { gauges.clear() } }
    repeat {
      for app in catalog.value.appIDs.compactMap({ catalog.value[$0] }) {
        for environment in app.environments {
          let scope = AppEnvironment(appID: app.id, environment: environment)
          try await exportReports(of: scope)
          try await exportState(of: scope)
        }
      }
      gauges.endRound()
    } while (try? await sleep(Self.interval)) != nil
  }

  /// The labels of every gauge.
  private static func labels(_ scope: AppEnvironment) -> Labels {
    [("app", scope.appID), ("environment", scope.environment.rawValue)]
  }

  /// Exports the last two days of the reports that have gauges. Columns without a gauge are left out.
  private func exportReports(of scope: AppEnvironment) async throws(StoreError) {
    let today = ReportDay(clocks.now(in: scope.environment))
    for name in [Report.Name.subscriptions, .movements, .recurringRevenue, .revenue] {
      let query = ReportQuery(
        name, from: today.advanced(by: -1), to: today.advanced(by: 1),
        groupBy: name == .subscriptions ? [.product] : [])
      let sums = try await store.read(.background) { reader throws(StoreError) in
        try reader.reportSums(query, of: scope.appID, in: scope.environment)
      }
      // None of these reports mixes periods of different lengths.
      guard let table = try? ReportTable(query, sums) else { continue }
      for row in table.rows {
        let day = row.bucket == today ? "today" : "yesterday"
        for (column, value) in zip(query.report.columns, row.values) {
          guard let (label, labels) = Self.gauge(column, of: name, row) else { continue }
          gauges.record(label, Self.labels(scope) + labels + [("day", day)], value)
        }
      }
    }
  }

  /// The gauge of a value of a report; `nil` without one.
  private static func gauge(
    _ column: ReportColumn, of report: Report.Name, _ row: ReportTable.Row
  ) -> (label: String, labels: Labels)? {
    switch (report, column.name) {
    case (.subscriptions, let state):
      ("entitled_subscriptions", [("product", row.groups.first ?? ""), ("state", state)])
    case (.movements, let movement) where column.span == .bucket:
      ("entitled_subscription_movements", [("movement", movement)])
    case (.recurringRevenue, "closing"):
      ("entitled_recurring_thousandths_per_year", [("currency", row.currency)])
    case (.revenue, "net"): ("entitled_revenue_thousandths", [("currency", row.currency)])
    default: nil
    }
  }

  /// Exports how current the reports are, and whether their numbers agree with each other and with Apple's.
  private func exportState(of scope: AppEnvironment) async throws(StoreError) {
    let now = clocks.now(in: scope.environment)
    let state = try await store.read(.background) { reader throws(StoreError) in
      try ReportState(of: scope, at: now, reader)
    }
    let labels = Self.labels(scope)
    gauges.record("entitled_report_identity_broken", labels, state.brokenDays)
    gauges.record("entitled_report_backlog", labels, state.backlog)
    gauges.record("entitled_report_lag_seconds", labels, state.lag)
    gauges.record("entitled_report_oldest_open_day_seconds", labels, state.oldestOpenDay)
    for (cause, count) in state.revisions {
      gauges.count("entitled_report_revisions_total", labels + [("cause", cause)], total: count)
    }
    for (report, count) in state.unexplained {
      gauges.record("entitled_reconciliation_unexplained", labels + [("report", report)], count)
    }
    for (segment, count) in state.members {
      gauges.record("entitled_segment_members", labels + [("segment", segment)], count)
    }
  }
}

/// The gauges about the reports of an app themselves, read in one snapshot.
private struct ReportState {
  /// The number of days on which an identity between the reports does not hold.
  let brokenDays: Int64
  /// The number of purchases whose new evidence is not derived yet.
  let backlog: Int64
  /// The age of the oldest evidence that is not derived yet, in seconds.
  let lag: Int64
  /// The time since the last closed day, in seconds.
  let oldestOpenDay: Int64
  /// The number of revisions with each cause.
  private(set) var revisions: [String: Int64] = [:]
  /// The unexplained differences to each of Apple's reports.
  private(set) var unexplained: [String: Int64] = [:]
  /// The rows of each saved segment.
  private(set) var members: [String: Int64] = [:]

  /// A span that contains each day.
  private static let allDays = (first: ReportDay(number: -.max / 2), end: ReportDay(number: .max / 2))

  init(
    of scope: AppEnvironment, at now: Instant, _ reader: any StoreSnapshot
  ) throws(StoreError) {
    let (appID, environment) = (scope.appID, scope.environment)
    let (first, end) = Self.allDays
    let broken = try reader.brokenDays(from: first, to: end, knownBy: nil, of: appID, in: environment)
    brokenDays = Int64(broken.count)
    let waiting = try reader.reportBacklog(of: appID, in: environment, at: now)
    backlog = waiting.purchases
    lag = max(0, waiting.since.map { now.milliseconds(since: $0) / 1_000 } ?? 0)
    let closed = try reader.lastClosedDay(of: appID, in: environment)
    oldestOpenDay = max(0, closed.map { now.milliseconds(since: $0.end) / 1_000 } ?? 0)
    let revised = try reader.reportRevisions(
      from: first, to: end, ofStocks: false, knownBy: nil, of: appID, in: environment)
    for revision in revised {
      for cause in revision.causes.keys { revisions[cause, default: 0] += 1 }
    }
    for day in try reader.reconciledDays(from: first, to: end, of: appID, in: environment) {
      unexplained[day.report] = (unexplained[day.report] ?? 0).addingSaturated(day.unexplained)
    }
    for segment in try reader.segments(of: scope) {
      members[segment.name] = try reader.memberCount(SegmentQuery(segment, at: now))
    }
  }
}

extension SegmentQuery {
  /// All members of a saved segment.
  fileprivate init(_ segment: SavedSegment, at now: Instant) {
    self.init(segment.conditions, of: segment.appEnvironment, at: now, limit: 0)
  }
}
