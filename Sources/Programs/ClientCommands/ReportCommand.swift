internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import EntitledClient
internal import Foundation
internal import Wire

/// `entitled report`.
struct ReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Show subscription and revenue reports.",
    discussion: """
      Without a name it lists the reports with the definitions of their columns.
      Example: entitled report mrr --from 2026-01-01 --to 2026-12-31 --by month --group-by storefront
      """)

  @OptionGroup var options: ScopedOptions

  @Argument(help: "The report, such as mrr (default: list the reports).") var name: String?
  @Option(help: "First day.") var from: String?
  @Option(help: "Last day.") var to: String?
  @Option(help: "day, week, month, quarter or year.") var by: String?
  @Option(help: "product, group, storefront, offer, duration or reason; at most twice.")
  var groupBy: [String] = []
  @Option(help: "Number of groups; the rest is one, OTHER (default: all).") var maxGroups: Int32?
  @Option(help: "Product id; repeatable (default: all).") var product: [String] = []
  @Option(help: "Country of the storefront, such as USA; repeatable (default: all).") var storefront:
    [String] = []
  @Flag(help: "Report estimated proceeds instead of prices.") var proceeds = false
  @Flag(help: "Report each day as first closed.") var asFirstClosed = false
  @Option(help: "Report what was known at the last closing before this time.") var knownAt: String?
  @Option(help: "Leave out changes after this time of the last day, RFC 3339.") var asOf: String?
  @Option(help: "Currency to convert to, with --rates.") var convertTo: String?
  @Option(help: "File of rates: lines of day,currency,rate.") var rates: String?
  @Option(help: "The column of the chart (default: closing, or the first column).") var column: String?
  @Option(help: "List the purchases behind this column instead of the report.") var behind: String?
  @Option(help: "With --behind: first day of the row's bucket (default: --from).") var bucket: String?
  @Option(help: "With --behind: the row's groups, in the order of --group-by.") var group: [String] = []
  @Option(help: "With --behind: currency of the row.") var currency: String?
  @Option(help: "With --behind: age of the row.") var age: Int64?
  @Flag(help: "Print CSV.") var csv = false
  @Flag(help: "Print one JSON object a line.") var ndjson = false
  @Flag(help: "List the results that reconcile --record stored.") var reconciliation = false
  @Flag(help: "With --reconciliation: list the earlier results, too, of at most 31 days.") var allRuns = false

  func run() async throws {
    let (app, environment) = try await options.appAndEnvironment()
    if reconciliation { return try await listReconciliation(app, environment) }
    guard let name else { return try await list(app) }
    let query = try query(name)
    if let behind { return try await list(behind, query, app, environment) }
    if csv || ndjson {
      let request = ExportReportRequest.with {
        ($0.app, $0.environment, $0.query) = (app, environment, query)
        $0.format = ndjson ? .ndjson : .csv
      }
      return try await options.withConnection { connection in
        try await connection.exportReport(request) { response in
          try StandardOutput.write(response.chunk)
        }
      }
    }
    let request = QueryReportRequest.with {
      ($0.app, $0.environment, $0.query) = (app, environment, query)
    }
    let response = try await options.withConnection { try await $0.queryReport(request) }
    guard !options.client.json, !response.rows.isEmpty else {
      return options.showList(response, [], empty: "nothing in these days")
    }
    print(ReportText(response, columnOfChart: column).text, terminator: "")
  }

  private func list(_ app: String) async throws {
    let request = ListReportsRequest.with { $0.app = app }
    let response = try await options.withConnection { try await $0.listReports(request) }
    let rows = response.reports.flatMap { report in
      [(report.name, report.title)] + report.columns.map { ("  \($0.name)", $0.definition) }
    }
    options.showList(response, rows, empty: "no reports")
  }

  /// Prints the results of the comparisons with Apple's reports.
  private func listReconciliation(_ app: String, _ environment: Wire.Environment) async throws {
    let days = try days()
    let request = GetReconciliationRequest.with {
      ($0.app, $0.environment, $0.startTime, $0.endTime) = (app, environment, days.from, days.to)
      $0.allRuns = allRuns
    }
    let response = try await options.withConnection { try await $0.getReconciliation(request) }
    let rows = response.days.map { day in
      (
        "\(day.day.text.prefix(10))  \(day.report)" + (allRuns ? "  \(day.recordedAt.text)" : ""),
        "matched \(day.matched)  explained \(day.explained)  unexplained \(day.unexplained)"
          + (day.unknownRows > 0 ? "  unknown rows \(day.unknownRows)" : "")
      )
    }
    options.showList(response, rows, empty: "no results of these days")
  }

  /// The days of `--from` and `--to`, both of them included.
  private func days() throws -> (from: GoogleProtobuf.Timestamp?, to: GoogleProtobuf.Timestamp?) {
    guard let from, let to else { throw Failure("--from and --to are needed", status: 64) }
    return (try TimeOption.parse(from, "--from"), try TimeOption.parse(to, "--to", day: .end))
  }

  /// Prints the purchases behind a value, page by page.
  private func list(
    _ column: String, _ query: ReportQuery, _ app: String, _ environment: Wire.Environment
  ) async throws {
    var request = ListReportPurchasesRequest.with {
      ($0.app, $0.environment, $0.query, $0.column) = (app, environment, query, column)
      ($0.groups, $0.currency, $0.age, $0.pageSize) = (group, currency ?? "", age ?? 0, 1_000)
    }
    request.bucket = try TimeOption.parse(bucket, "--bucket") ?? query.startTime
    var response = ListReportPurchasesResponse()
    try await options.withConnection { connection in
      repeat {
        let page = try await connection.listReportPurchases(request)
        response.purchases += page.purchases
        request.pageToken = page.nextPageToken
      } while !request.pageToken.isEmpty
    }
    let rows = response.purchases.map { purchase in
      (
        purchase.originalTransactionId,
        [purchase.customerId, purchase.productId, String(purchase.value), purchase.currency, purchase.reason]
          .filter { !$0.isEmpty }.joined(separator: "  ")
      )
    }
    options.showList(response, rows, empty: "no purchases behind this value")
  }

  /// The query that the options define.
  private func query(_ name: String) throws -> ReportQuery {
    var query = ReportQuery.with {
      $0.report = name
      $0.productIds = product
      $0.storefronts = storefront
      $0.proceeds = proceeds
      $0.asFirstClosed = asFirstClosed
      $0.convertTo = convertTo ?? ""
      $0.maxGroups = maxGroups ?? 0
    }
    (query.startTime, query.endTime) = try days()
    query.knownAt = try TimeOption.parse(knownAt, "--known-at", day: .end)
    query.asOf = try TimeOption.parse(asOf, "--as-of")
    query.granularity = try Self.granularity(by)
    query.groupBy = try groupBy.map(Self.dimension)
    if let rates { query.rates = try Self.rates(rates) }
    return query
  }

  private static func granularity(_ name: String?) throws -> ReportGranularity {
    switch name {
    case nil: .unspecified
    case "day": .day
    case "week": .week
    case "month": .month
    case "quarter": .quarter
    case "year": .year
    case let other?:
      throw Failure("--by takes day, week, month, quarter or year, not '\(other)'", status: 64)
    }
  }

  private static func dimension(_ name: String) throws -> ReportDimension {
    switch name {
    case "product": .product
    case "group": .group
    case "storefront": .storefront
    case "offer": .offerKind
    case "duration": .duration
    case "reason": .reason
    default:
      let known = "product, group, storefront, offer, duration or reason"
      throw Failure("--group-by takes \(known), not '\(name)'", status: 64)
    }
  }

  /// Reads lines such as `2026-10-01,EUR,1.085`.
  private static func rates(_ path: String) throws -> [ReportRate] {
    let text = String(decoding: try InputFile.contents(path), as: UTF8.self)
    return try text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }.map { line in
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard fields.count == 3, let millionths = RateText.millionths(fields[2]),
        let from = try TimeOption.parse(fields[0], "--rates")
      else {
        throw Failure(
          "--rates: a line is no day, currency and rate above 0 with at most six decimals: '\(line)'",
          status: 64
        )
      }
      return .with { ($0.startTime, $0.currency, $0.millionths) = (from, fields[1], millionths) }
    }
  }
}
