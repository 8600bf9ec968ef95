internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// The purchases behind one value of a report, with their customers.
enum ReportCustomersPage {
  private static let columns = [
    "customer_id", "original_transaction_id", "product_id", "storefront", "effective_at", "value", "currency",
    "reason",
  ]

  /// `GET …/reports/CHART/customers`. Besides the chart's filter, the query names the cell: `column`, `bucket`,
  /// `group`, `currency` and `age`, as ``ReportData/link(_:_:)`` writes them.
  static func page(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let (chart, filter, request) = try await request(name, in: scope, visit)
    let response = try await visit.call(Calls.listReportPurchases, request)
    let rows = response.purchases.map { purchase -> [Markup] in
      let customer: Markup =
        purchase.customerId.isEmpty
        ? Part.chip(Text.unclaimed, .grace)
        : scope.customerLink(purchase.customerId)
      return [
        customer,
        scope.purchaseLink(purchase.originalTransactionId),
        Format.name(purchase.productId), "\(purchase.storefront)", Format.time(purchase.effectiveAt),
        "\(value(purchase, visit))", "\(Format.words(purchase.reason))",
      ]
    }
    let title = Text.behind(
      Format.words(request.column), request.bucket.map { filter.name(of: $0.day) } ?? "", request.currency)
    let table =
      rows.isEmpty
      ? Part.empty(response.nextPageToken.isEmpty ? Text.noReportPurchases : Text.noReportPurchasesYet)
      : Table.markup(
        title,
        heads: [
          Text.customer, Text.purchase, Text.productHead, Text.storefront, Text.when, Text.partOfValue,
          Text.reason,
        ], rows: rows)
    let query = items(visit)
    let path = scope.path + ["reports", chart.rawValue]
    let next = Part.next(response.nextPageToken) {
      Link(path + ["customers"], query: query + [("page", $0)])
    }
    return Page(
      title, in: scope, section: .reports,
      body: """
        <p><a href="\(scope.reports())">\(Text.reports)</a> › <a href="\(Link(path, query: query))">\(chart.title)</a></p>
        <h1>\(title)</h1>
        <p>\(Text.behindHint)</p>
        <div class="cards-on-phones">\(table)</div>
        \(next)
        \(Part.file(Text.listAsCSV, Link(path + ["customers.csv"], query: query)))
        """)
  }

  /// All purchases; values as the contract has them.
  static func csv(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> HTTPResponse {
    let (_, _, first) = try await request(name, in: scope, visit)
    return try await .csv(columns) { page async throws(Status) in
      var request = first
      (request.pageToken, request.pageSize) = (page, 1_000)
      let response = try await visit.call(Calls.listReportPurchases, request)
      let rows = response.purchases.map { purchase in
        [
          purchase.customerId, purchase.originalTransactionId, purchase.productId, purchase.storefront,
          purchase.effectiveAt.text, String(purchase.value), purchase.currency, purchase.reason,
        ]
      }
      return (rows, response.nextPageToken)
    }
  }

  private static func request(
    _ name: String, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> (ReportChart, ReportFilter, ListReportPurchasesRequest) {
    let (chart, filter) = try await ReportPage.request(name, in: scope, visit)
    let report = visit.value("report").flatMap { Reports.Report.Name(rawValue: $0) } ?? chart.reports[0]
    // Of the charts, two are grouped.
    let groups: [ReportDimension] =
      visit.query["group"] == nil ? [] : chart == .retention ? [.product] : [.storefront]
    return (
      chart, filter,
      ListReportPurchasesRequest.about(scope) {
        $0.query = filter.query(report, proceeds: visit.value("proceeds") != nil, groupBy: groups)
        $0.column = visit.value("column") ?? ""
        $0.bucket = visit.value("bucket").flatMap(ReportDay.init(text:))
          .map { GoogleProtobuf.Timestamp($0.start) }
        $0.groups = groups.isEmpty ? [] : [visit.query["group"] ?? ""]
        $0.currency = visit.value("currency") ?? ""
        $0.age = visit.value("age").flatMap { Int64($0) } ?? 0
        $0.pageToken = visit.value("page") ?? ""
      }
    )
  }

  /// The items of the address that select the value, for the next page and the CSV.
  private static func items(_ visit: Visit) -> [(name: String, value: String?)] {
    [
      "from", "to", "by", "product", "storefront", "known", "known-at", "report", "column", "bucket", "group",
      "currency", "age", "proceeds",
    ].map { ($0, visit.query[$0]) }
  }

  private static func value(_ purchase: Wire.ReportPurchase, _ visit: Visit) -> String {
    let report = visit.value("report").flatMap { Reports.Report.Name(rawValue: $0) }
    let column = report.map(Reports.Report.named)?.columns.first { $0.name == visit.value("column") }
    switch column?.unit {
    case .money: return Format.money(milliunits: purchase.value, purchase.currency)
    case .moneyPerYear:
      return Text.aMonth(Format.money(milliunits: ReportData.month(purchase.value), purchase.currency))
    case .count, nil: return String(purchase.value)
    }
  }
}
