internal import Pages
internal import Reports

/// The charts of the console.
enum ReportChart: String, Sendable, CaseIterable {
  case mrr, active, revenue, retention, trials, billing, churn
  case lifetimeValue = "ltv"
  case storefronts
  case paidYears = "paid-years"

  var title: String { Text.title(of: self) }
  /// The use of the chart.
  var use: String { Text.use(of: self) }

  /// The reports behind it; the first one is that of its table.
  var reports: [Report.Name] {
    switch self {
    case .mrr: [.recurringRevenue]
    case .active: [.subscriptions]
    case .revenue: [.revenue]
    case .retention: [.retention]
    case .trials: [.trials]
    case .billing: [.billing]
    case .churn: [.churnReasons]
    case .lifetimeValue: [.lifetimeValue]
    case .storefronts: [.recurringRevenue, .churnReasons, .refunds]
    case .paidYears: [.paidYears]
    }
  }

  /// The lengths of buckets that people can choose; the first one is the default.
  var granularities: [Granularity] {
    switch self {
    case .mrr, .churn: [.month, .week, .day, .quarter]
    case .revenue: [.month, .day, .week, .quarter]
    case .active, .paidYears: [.day, .week, .month]
    case .billing: [.week, .day, .month]
    case .trials: [.week, .month]
    case .retention, .lifetimeValue: [.month]
    // The picture is of the last bucket.
    case .storefronts: [.month, .quarter, .year]
    }
  }

  /// The number of days before today that it shows by default.
  var days: Int64 {
    switch self {
    case .active: 60
    case .billing, .trials: 13 * 7
    case .storefronts: 0
    default: 365
    }
  }
}
