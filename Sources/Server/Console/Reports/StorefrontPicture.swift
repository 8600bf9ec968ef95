internal import Markup
internal import Pages
internal import Reports
internal import Wire

/// The storefronts by what they bring: the first one has the most active subscriptions.
///
/// Counts are of all currencies, and each amount is in the currency of its storefront.
struct StorefrontPicture {
  private static let maxStorefronts = 40

  let mrr: ReportData
  let churn: ReportData
  let refunds: ReportData

  var picture: ReportPicture {
    let names = self.names
    let measures = [
      measure("active", .full, mrr, Text.active, names),
      measure("closing", .blue, mrr, Text.mrrInOwnCurrency, names),
      measure("lapsed", .none, churn, Text.endedSubscriptions, names),
      measure("refunds", .pink, refunds, Text.refundsTitle, names),
    ]
    let last = mrr.filter.buckets.last.map(mrr.filter.name) ?? ""
    let chart = BarChart(
      "\(mrr.chart.title) \(last)", names: names.map { $0.given ?? Text.none }, measures: measures)
    let rows = names.indices.map { index in
      ["\(names[index].given ?? Text.none)"] + measures.map { cell($0.points[index]) } as [Markup]
    }
    return ReportPicture(
      data: mrr, legend: "<h2>\(chart.title)</h2>", svg: chart.svg,
      table: Table.markup(Text.numbers, heads: [Text.storefront] + measures.map(\.name), rows: rows))
  }

  private func cell(_ point: ChartSeries.Point) -> Markup {
    point.link.map { "<a href=\"\($0)\">\(point.text)</a>" } ?? "\(point.text)"
  }

  private var names: [String] {
    let all = Set([mrr, churn, refunds].flatMap { latest($0).keys })
    let active = latest(mrr).mapValues { rows in sum("active", rows, mrr) }
    let inOrder = all.sorted { (-(active[$0] ?? 0), $0) < (-(active[$1] ?? 0), $1) }
    return Array(inOrder.prefix(Self.maxStorefronts))
  }

  /// The rows of each storefront in the last bucket; in reports with amounts, one for each currency.
  private func latest(_ data: ReportData) -> [String: [ReportRow]] {
    let last = data.filter.buckets.last
    return Dictionary(
      grouping: data.response.rows.filter { $0.bucket?.day == last }, by: { $0.groups.first ?? "" })
  }

  private func sum(_ column: String, _ rows: [ReportRow], _ data: ReportData) -> Int64 {
    rows.reduce(0) { $0 &+ (data.value(column, $1) ?? 0) }
  }

  private func measure(
    _ column: String, _ look: ChartSeries.Look, _ data: ReportData, _ name: String, _ names: [String]
  ) -> ChartSeries {
    let rows = latest(data)
    let unit = data.index(of: column).map { data.response.columns[$0].unit } ?? .count
    let currency = data.currency
    return ChartSeries(
      name, look,
      names.map { storefront in
        let used = (rows[storefront] ?? []).filter { data.value(column, $0) ?? 0 != 0 }
        guard !used.isEmpty else { return ChartSeries.Point(0, "0") }
        // The purchases behind one row do not add up to the sum of several.
        let link = used.count == 1 ? data.link(column, used[0]) : nil
        guard unit == .money || unit == .moneyPerYear else {
          let count = sum(column, used, data)
          return ChartSeries.Point(Double(count), String(count), link: link)
        }
        let texts = used.map { data.text(data.value(column, $0) ?? 0, unit, in: $0.currency) }
        // Bars of several currencies have no common scale: those of the page's currency have a length.
        let amount = sum(column, used.filter { $0.currency == currency }, data)
        return ChartSeries.Point(data.number(amount, unit), texts.joined(separator: ", "), link: link)
      })
  }
}
