internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// A chart over time.
struct BucketPicture {
  let data: ReportData
  /// The same amounts as proceeds, in the chart of revenue.
  let proceeds: ReportData?
  private let rows: [ReportDay: ReportRow]
  private let proceedsRows: [ReportDay: ReportRow]

  init(_ data: ReportData, proceeds: ReportData? = nil) {
    self.data = data
    self.proceeds = proceeds
    rows = Self.byBucket(data)
    proceedsRows = proceeds.map(Self.byBucket) ?? [:]
  }

  private static func byBucket(_ data: ReportData) -> [ReportDay: ReportRow] {
    Dictionary(
      data.rows.compactMap { row in row.bucket.map { ($0.day, row) } },
      uniquingKeysWith: { first, _ in first })
  }

  var picture: ReportPicture {
    let chart = BucketChart(data.chart.title, buckets: buckets, panels: panels.map(\.withoutEmptySeries))
    let distribution: Markup = data.chart == .billing ? histogram : ""
    return ReportPicture(
      data: data, legend: chart.legend, svg: "\(chart.svg)\(distribution)",
      table: ReportTableMarkup.markup(data))
  }

  private var buckets: [BucketChart.Bucket] {
    let filter = data.filter
    let closed = data.response.closedUntil?.day
    let revised = Set(
      data.response.revisions.compactMap { $0.day.map { filter.granularity.firstDay(of: $0.day) } })
    let noted = filter.note.map { filter.granularity.firstDay(of: $0.day) }
    return filter.buckets.map { bucket in
      let end = filter.granularity.firstDay(after: bucket)
      let isOpen = rows[bucket]?.incomplete ?? (closed.map { end > $0 } ?? true)
      return BucketChart.Bucket(
        filter.name(of: bucket), isOpen: isOpen, isRevised: revised.contains(bucket),
        note: bucket == noted ? filter.note?.text : nil)
    }
  }

  // MARK: Series

  /// The sum of columns; the first one has the link.
  private func series(
    _ name: String, _ look: ChartSeries.Look, _ columns: [(column: String, sign: Int64)]
  ) -> ChartSeries {
    ChartSeries(name, look, data.filter.buckets.map { point(rows[$0], data, columns) })
  }

  private func column(_ column: String, _ look: ChartSeries.Look, sign: Int64 = 1) -> ChartSeries {
    series(Format.words(column), look, [(column, sign)])
  }

  private func point(
    _ row: ReportRow?, _ data: ReportData, _ columns: [(column: String, sign: Int64)]
  ) -> ChartSeries.Point {
    guard let row, let first = columns.first, let index = data.index(of: first.column) else {
      return ChartSeries.Point(0)
    }
    let unit = data.response.columns[index].unit
    let sum = columns.reduce(0) { $0 + $1.sign * (data.value($1.column, row) ?? 0) }
    return ChartSeries.Point(
      data.number(sum, unit), data.text(sum, unit), link: data.link(first.column, row))
  }

  /// The share of one column in another, in percent, with the number that it is of.
  private func ratio(_ name: String, _ look: ChartSeries.Look, _ part: String, of whole: String)
    -> ChartSeries
  {
    let points = data.filter.buckets.map { bucket -> ChartSeries.Point in
      guard let row = rows[bucket], let number = data.value(whole, row), number > 0,
        let value = data.value(part, row)
      else { return ChartSeries.Point(nil) }
      let percent = Double(value) / Double(number) * 100
      return ChartSeries.Point(
        percent, Text.share(Int64(percent.rounded()), of: number), link: data.link(part, row))
    }
    return ChartSeries(name, look, points)
  }

  /// The parts of a whole in percent.
  private func shares(_ columns: [(String, ChartSeries.Look)], of whole: String) -> [ChartSeries] {
    columns.map { column, look in ratio(Format.words(column), look, column, of: whole) }
  }

  // MARK: Panels

  private var panels: [ChartPanel] {
    switch data.chart {
    case .mrr: mrr
    case .active: active
    case .revenue: revenue
    case .trials: trials
    case .billing: billing
    case .churn: churn
    case .paidYears: paidYears
    case .retention, .lifetimeValue, .storefronts: []
    }
  }

  private var mrr: [ChartPanel] {
    let others = ChartPanel(
      Text.otherMovements(data.currency), height: 100,
      stacked: [column("moved", .trial), column("reversed", .grant)])
    let hasOthers = data.rows.contains { row in
      ["moved", "reversed"].contains { data.value($0, row) ?? 0 != 0 }
    }
    return [
      ChartPanel(
        Text.movementsOfMRR(data.currency),
        stacked: [
          column("new", .full), column("reactivation", .trial), column("recovered", .grace),
          column("expansion", .grant), column("contraction", .ended), column("churn_voluntary", .none),
          column("churn_billing", .retry), column("churn_other", .blue), column("churn_refund", .pink),
        ]),
      ChartPanel(
        Text.mrrAtTheEnd(data.currency), height: 130, lines: [series(Text.mrr, .blue, [("closing", 1)])]),
    ] + (hasOthers ? [others] : [])
  }

  private var active: [ChartPanel] {
    [
      ChartPanel(
        Text.subscriptionsInForce, height: 260, shape: .areas,
        stacked: [
          series(Text.renewing, .full, [("active", 1), ("in_trial", 1), ("at_risk", -1), ("in_grace", -1)]),
          column("at_risk", .pink), column("in_grace", .grace),
        ], lines: [column("in_trial", .trial), column("in_retry", .retry)])
    ]
  }

  private var revenue: [ChartPanel] {
    var lines = [column("net", .blue)]
    if let proceeds {
      lines.append(
        ChartSeries(
          Text.proceeds, .grant, isEstimated: true,
          data.filter.buckets.map { point(proceedsRows[$0], proceeds, [("net", 1)]) }))
    }
    return [
      ChartPanel(
        Text.revenueIn(data.currency), height: 260,
        stacked: [column("gross", .full), column("reversals", .grace), column("refunds", .none)],
        lines: lines)
    ]
  }

  private var trials: [ChartPanel] {
    [
      ChartPanel(
        Text.trialsByStart,
        stacked: [
          column("converted", .full), column("running", .trial), column("cancelled_within_a_day", .none),
          column("cancelled_later", .pink), column("expired_otherwise", .ended),
          column("revoked", .blue),
        ], lines: [column("billing_failed", .retry)]),
      ChartPanel(
        Text.conversion, height: 130, lines: [ratio(Text.conversion, .full, "converted", of: "ended")],
        limit: 100, unit: " %"),
    ]
  }

  private var billing: [ChartPanel] {
    [
      ChartPanel(
        Text.failedPayments, stacked: [column("grace_entered", .grace), column("retry_entered", .retry)],
        lines: [
          column("grace_recovered", .full), column("retry_recovered", .blue), column("retry_lost", .none),
        ]),
      ChartPanel(
        Text.atTheEnd, height: 130, lines: [column("in_grace", .grace), column("in_retry", .retry)]),
      ChartPanel(
        Text.recoveries, height: 130,
        stacked: zip(RecoveryTime.allCases, Self.recoveryLooks).map { time, look in
          series(Text.name(of: time), look, [(time.column, 1)])
        }),
    ]
  }

  private static let recoveryLooks: [ChartSeries.Look] = [
    .full, .blue, .trial, .grant, .grace, .retry, .none,
  ]

  /// The recoveries of all buckets by their time.
  private var histogram: Markup {
    let points = RecoveryTime.allCases.map { time -> ChartSeries.Point in
      let count = rows.values.reduce(0) { $0 + (data.value(time.column, $1) ?? 0) }
      return ChartSeries.Point(Double(count), String(count))
    }
    return BarChart(
      Text.daysToRecovery, names: RecoveryTime.allCases.map { Text.name(of: $0) },
      measures: [ChartSeries(Text.daysToRecovery, .full, points)]
    ).svg
  }

  private var churn: [ChartPanel] {
    [
      ChartPanel(Text.endedSubscriptions, height: 100, stacked: [column("lapsed", .ended)]),
      ChartPanel(
        Text.sharesOfEnds,
        stacked: shares(
          [
            ("cancelled", .none), ("cancelled_within_a_day", .pink), ("cancelled_in_grace", .grace),
            ("price_not_accepted", .grant), ("billing", .retry), ("refund", .blue),
            ("product_unavailable", .trial), ("other", .ended), ("unknown", .full),
          ], of: "lapsed"), limit: 100, unit: " %"),
    ]
  }

  private static let bandLooks: [ChartSeries.Look] = [.ended, .trial, .blue, .full]

  private var paidYears: [ChartPanel] {
    [
      ChartPanel(
        Text.payersAtTheEnd, shape: .areas,
        stacked: zip(PaidDays.allCases, Self.bandLooks).map { band, look in
          series(Text.name(of: band), look, [(band.column, 1)])
        }),
      ChartPanel(
        Text.payersOverTheYear, height: 130,
        stacked: [column("year_reached", .blue), column("year_reset", .none, sign: -1)],
        lines: [column("first_charge_at_85", .grant)]),
      ChartPanel(
        Text.chargesAt85, height: 130,
        lines: [ratio(Text.chargesAt85, .full, "charges_at_85", of: "charges")],
        limit: 100, unit: " %"),
    ]
  }
}
