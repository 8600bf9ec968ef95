internal import Markup
internal import Pages
internal import Wire

/// The share of each month's new subscriptions that reached their n-th paid period.
enum RetentionPicture {
  private static let maxPeriods: Int64 = 13

  /// Periods of different lengths cannot be counted together: without a product, the one with the most subscriptions is
  /// shown.
  static func picture(_ data: ReportData) -> ReportPicture {
    var sizes: [String: Int64] = [:]
    for row in data.response.rows where row.age == 1 {
      sizes[row.groups.first ?? "", default: 0] += row.values[1]
    }
    let products = sizes.keys.sorted { (-(sizes[$0] ?? 0), $0) < (-(sizes[$1] ?? 0), $1) }
    let product = products.first ?? ""
    let rows = data.response.rows.filter { $0.groups.first == product && $0.age <= maxPeriods }
    let cohorts = Set(rows.compactMap { $0.bucket?.day }).sorted()
    let last = max(1, rows.map(\.age).max() ?? 1)
    let byKey = Dictionary(
      rows.map { ("\($0.bucket?.day.text ?? "") \($0.age)", $0) }, uniquingKeysWith: { first, _ in first })
    let map = HeatMap(
      Text.retentionOf(product), columns: (1...last).map { Text.period($0) },
      rows: cohorts.map { cohort in
        HeatMap.Row(
          String(cohort.text.prefix(7)),
          (1...last).map { age in byKey["\(cohort.text) \(age)"].flatMap { cell($0, data) } })
      })
    let heads = [Text.cohort] + (1...last).map { Text.period($0) }
    let table = Table.markup(
      Text.numbers, heads: heads,
      rows: cohorts.map { cohort in
        ["\(cohort.text.prefix(7).description)"]
          + (1...last).map { age in byKey["\(cohort.text) \(age)"].map { text($0, data) } ?? "" }
      })
    return ReportPicture(
      data: data, legend: choices(products, product, data), svg: map.svg, table: table)
  }

  private static func cell(_ row: ReportRow, _ data: ReportData) -> HeatMap.Cell? {
    guard row.values[1] > 0 else { return nil }
    let share = Double(row.values[0]) / Double(row.values[1])
    return HeatMap.Cell(
      share: share, text: "\(Int64((share * 100).rounded())) %", number: Text.of(row.values[1]),
      isOpen: row.incomplete, link: data.link("reached", row))
  }

  private static func text(_ row: ReportRow, _ data: ReportData) -> Markup {
    guard row.values[1] > 0 else { return "" }
    let share = Int64((Double(row.values[0]) / Double(row.values[1]) * 100).rounded())
    let words = Text.share(share, of: row.values[1])
    let open: Markup = row.incomplete ? " \(Part.chip(Text.openBucket, .grace))" : ""
    return (data.link("reached", row).map { "<a href=\"\($0)\">\(words)</a>" } ?? "\(words)") + open
  }

  private static func choices(_ products: [String], _ product: String, _ data: ReportData) -> Markup {
    let links = products.map { name -> Markup in
      if name == product { return "<strong>\(Format.name(name))</strong>" }
      let link = data.scope.report(data.chart).adding(query: data.filter.items(with: "product", name))
      return "<a class=\"button\" href=\"\(link)\">\(Format.name(name))</a>"
    }
    return "<p class=\"row\">\(Text.productHead) \(links.joined(separator: " "))</p>"
  }
}

/// The payments of a month's payers by the end of each month since: a line for each cohort.
enum LifetimeValuePicture {
  private static let looks: [ChartSeries.Look] = [
    .full, .blue, .grant, .retry, .trial, .none, .grace, .pink, .ended,
  ]

  static func picture(_ data: ReportData) -> ReportPicture {
    let rows = data.rows
    let cohorts = Set(rows.compactMap { $0.bucket?.day }).sorted().suffix(12)
    let last = max(0, rows.map(\.age).max() ?? 0)
    let series = cohorts.enumerated().map { index, cohort in
      let ofCohort = Dictionary(
        rows.filter { $0.bucket?.day == cohort }.map { ($0.age, $0) }, uniquingKeysWith: { first, _ in first }
      )
      return ChartSeries(
        String(cohort.text.prefix(7)), looks[index % looks.count],
        (0...last).map { age in ofCohort[age].map { point($0, data) } ?? ChartSeries.Point(nil) })
    }
    let chart = BucketChart(
      data.chart.title, buckets: (0...last).map { BucketChart.Bucket(Text.month($0), isOpen: false) },
      panels: [ChartPanel(Text.perPayer(data.currency), height: 280, lines: Array(series))])
    return ReportPicture(
      data: data, legend: chart.legend, svg: chart.svg, table: ReportTableMarkup.markup(data))
  }

  private static func point(_ row: ReportRow, _ data: ReportData) -> ChartSeries.Point {
    guard row.values[1] > 0 else { return ChartSeries.Point(nil) }
    let average = Int64((Double(row.values[0]) / Double(row.values[1])).rounded())
    return ChartSeries.Point(
      data.number(average, .money), "\(data.text(average, .money)), \(Text.of(row.values[1]))",
      link: data.link("net", row), isOpen: row.incomplete)
  }
}
