internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// An answered report, with links to what is behind its values.
struct ReportData: Sendable {
  let chart: ReportChart
  let report: Reports.Report.Name
  let scope: Scope
  let filter: ReportFilter
  /// All currencies and columns; a page shows one currency.
  let response: QueryReportResponse
  /// Whether the amounts are estimated proceeds.
  let isOfProceeds: Bool
  let groupBy: [ReportDimension]
  /// Whether the person may see customers.
  let showsCustomers: Bool
  /// The currencies with amounts, the one with the most first. Stored, because each amount of a page asks for its currency.
  let currencies: [String]
  /// The currency of the page; empty in reports without amounts.
  let currency: String

  /// Queries a report, or takes the answer that ``ReportAnswers`` keeps of the same query.
  ///
  /// - Parameters:
  /// - proceeds: Whether the amounts are estimated proceeds instead of customer prices.
  /// - groupBy: The dimensions of the rows, at most two.
  static func load(
    _ report: Reports.Report.Name, of chart: ReportChart, _ filter: ReportFilter, in scope: Scope,
    _ visit: Visit, proceeds: Bool = false, groupBy: [ReportDimension] = []
  ) async throws(Status) -> ReportData {
    let request = QueryReportRequest.about(scope) {
      $0.query = filter.query(report, proceeds: proceeds, groupBy: groupBy)
    }
    let response = try await visit.reports.answer(request, visit)
    let currencies = Self.currencies(of: response)
    return ReportData(
      chart: chart, report: report, scope: scope, filter: filter, response: response, isOfProceeds: proceeds,
      groupBy: groupBy, showsCustomers: visit.mayCall(Calls.listReportPurchases), currencies: currencies,
      currency: [filter.currency, filter.convertTo].compactMap(\.self).first(where: currencies.contains)
        ?? currencies.first ?? "")
  }

  private static func currencies(of response: QueryReportResponse) -> [String] {
    var totals: [String: Int64] = [:]
    for row in response.rows where !row.currency.isEmpty {
      totals[row.currency, default: 0] &+= row.values.reduce(0) { $0 &+ Int64(clamping: $1.magnitude) }
    }
    return totals.keys.sorted { (totals[$1] ?? 0, $0) < (totals[$0] ?? 0, $1) }
  }

  /// The rows of the page's currency.
  var rows: [ReportRow] { response.rows.filter { $0.currency == currency } }

  /// The position of a column of the contract, such as `mrr`; `nil` if this report has none of that name.
  func index(of column: String) -> Int? { response.columns.firstIndex { $0.name == column } }

  /// The value of a column in a row, in the unit of the column: a count, or thousandths of the currency. `nil` if the
  /// report does not have the column.
  func value(_ column: String, _ row: ReportRow) -> Int64? {
    index(of: column).flatMap { row.values.indices.contains($0) ? row.values[$0] : nil }
  }

  /// A value as people read it: an amount a year is that of a month.
  ///
  /// - other: the currency of the amount; `nil`: that of the page.
  func text(_ value: Int64, _ unit: ReportUnit, in other: String? = nil) -> String {
    switch unit {
    case .count, .unspecified, .unrecognized: String(value)
    case .money: Format.money(milliunits: Self.hundredths(value), other ?? currency)
    case .moneyPerYear: Format.money(milliunits: Self.month(value), other ?? currency)
    }
  }

  /// The same as a number of a chart.
  func number(_ value: Int64, _ unit: ReportUnit) -> Double {
    switch unit {
    case .count, .unspecified, .unrecognized: Double(value)
    case .money: Double(value) / 1_000
    case .moneyPerYear: Double(value) / 12_000
    }
  }

  /// An amount a year as that of a month, rounded to the second decimal.
  static func month(_ value: Int64) -> Int64 { hundredths(Int64((Double(value) / 12).rounded())) }

  /// Rounded to the second decimal.
  private static func hundredths(_ value: Int64) -> Int64 { Int64((Double(value) / 10).rounded()) * 10 }

  /// The customers behind a value; `nil` if the person may not see them, or if it is converted: the parts of customers are
  /// in their currencies.
  func link(_ column: String, _ row: ReportRow) -> Link? {
    guard showsCustomers, !filter.converts(report), value(column, row) ?? 0 != 0 else { return nil }
    return Link(
      scope.path + ["reports", chart.rawValue, "customers"],
      query: filter.items.filter { $0.name != "currency" && !$0.name.hasPrefix("note") } + [
        ("report", report.rawValue), ("column", column), ("bucket", row.bucket?.day.text),
        ("group", groupBy.isEmpty ? nil : row.groups.first ?? ""), ("currency", row.currency.given),
        ("age", row.age == 0 ? nil : String(row.age)), ("proceeds", isOfProceeds ? "1" : nil),
      ])
  }
}

extension GoogleProtobuf.Timestamp {
  /// The day in UTC that contains it.
  var day: ReportDay { ReportDay(Instant(millisecondsSince1970: millisecondsSince1970 ?? 0)) }
}
