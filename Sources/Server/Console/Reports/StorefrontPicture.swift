internal import Markup
internal import Pages
internal import Reports
internal import Wire

/// The storefronts by what they bring: the first one has the most active subscriptions.
struct StorefrontPicture {
  private static let maxStorefronts = 40

  let mrr: ReportData
  let churn: ReportData
  let refunds: ReportData

  var picture: ReportPicture {
    let names = self.names
    let currency = mrr.currency
    let measures = [
      measure("active", .full, mrr, Text.active, names),
      measure("closing", .blue, mrr, Text.mrrIn(currency), names),
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
    let rows = latest(mrr)
    let all = Set([mrr, churn, refunds].flatMap { latest($0).keys })
    return Array(
      all.sorted { first, second in
        let (one, two) = (
          rows[first].flatMap { mrr.value("active", $0) } ?? 0,
          rows[second].flatMap { mrr.value("active", $0) } ?? 0
        )
        return (-one, first) < (-two, second)
      }.prefix(Self.maxStorefronts))
  }

  /// The row of each storefront, of the last bucket.
  private func latest(_ data: ReportData) -> [String: ReportRow] {
    let last = data.filter.buckets.last
    let rows = data.rows.filter { $0.bucket?.day == last }
    return Dictionary(rows.map { ($0.groups.first ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  private func measure(
    _ column: String, _ look: ChartSeries.Look, _ data: ReportData, _ name: String, _ names: [String]
  ) -> ChartSeries {
    let rows = latest(data)
    let unit = data.index(of: column).map { data.response.columns[$0].unit } ?? .count
    return ChartSeries(
      name, look,
      names.map { storefront in
        guard let row = rows[storefront], let value = data.value(column, row) else {
          return ChartSeries.Point(0, "0")
        }
        return ChartSeries.Point(
          data.number(value, unit), data.text(value, unit), link: data.link(column, row))
      })
  }
}
