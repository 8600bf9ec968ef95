internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// A drawn chart, and the same as a table.
struct ReportPicture: Sendable {
  /// The report of the table.
  let data: ReportData
  /// The series by name; empty for a chart with one.
  let legend: Markup
  /// The drawing. Its points are links for a mouse.
  let svg: Markup
  /// The numbers of the drawing, and their links for the keyboard.
  let table: Markup

  /// Calls `QueryReport` for each report of a chart, and draws the answers.
  static func load(
    _ chart: ReportChart, _ filter: ReportFilter, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> ReportPicture {
    func load(
      _ report: Reports.Report.Name, proceeds: Bool = false, groupBy: [ReportDimension] = []
    ) async throws(Status) -> ReportData {
      try await ReportData.load(
        report, of: chart, filter, in: scope, visit, proceeds: proceeds, groupBy: groupBy)
    }
    switch chart {
    case .retention: return RetentionPicture.picture(try await load(.retention, groupBy: [.product]))
    case .lifetimeValue: return LifetimeValuePicture.picture(try await load(.lifetimeValue))
    case .storefronts:
      let mrr = try await load(.recurringRevenue, groupBy: [.storefront])
      let churn = try await load(.churnReasons, groupBy: [.storefront])
      let refunds = try await load(.refunds, groupBy: [.storefront])
      return StorefrontPicture(mrr: mrr, churn: churn, refunds: refunds).picture
    case .revenue:
      let price = try await load(.revenue)
      return BucketPicture(price, proceeds: try await load(.revenue, proceeds: true)).picture
    case .mrr, .active, .trials, .billing, .churn, .paidYears:
      return BucketPicture(try await load(chart.reports[0])).picture
    }
  }
}
