internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Reports
internal import Store
internal import Wire

/// `entitled.v1.ReportService`: sums of postings. No answer names a customer.
struct ReportServiceHandler: ReportServiceMethods {
  /// The maximum number of rows of one response.
  private static let rowLimit = 10_000
  /// In bytes.
  private static let chunkSize = 65_536

  let context: ServiceContext

  /// Lists the reports, which are the same for each app.
  func listReports(
    _ request: ListReportsRequest, _ call: CallContext
  ) async throws(Status) -> ListReportsResponse {
    _ = try context.catalog.value.app(request.app)
    return .with { $0.reports = Reports.Report.Name.allCases.map { Wire.Report(.named($0)) } }
  }

  /// Answers a query with all its rows.
  ///
  /// - Throws: `TOO_MANY_ROWS` above 10,000 rows, which ``exportReport(_:_:_:)`` can have.
  func queryReport(
    _ request: QueryReportRequest, _ call: CallContext
  ) async throws(Status) -> QueryReportResponse {
    let answer = try await answer(request.app, request.environment, request.query, call)
    guard answer.rows.count <= Self.rowLimit else {
      throw Status(
        .resourceExhausted, reason: "TOO_MANY_ROWS",
        "the report has \(answer.rows.count) rows, and a response at most \(Self.rowLimit); use ExportReport")
    }
    return answer.message
  }

  /// Sends the answer to a query as a file in pieces: CSV, or one JSON object a line.
  func exportReport(
    _ request: ExportReportRequest, _ responses: ResponseWriter<ExportReportResponse>, _ call: CallContext
  ) async throws(Status) {
    if case .unrecognized = request.format { throw .unknownValue(of: "format") }
    let answer = try await answer(request.app, request.environment, request.query, call)
    let file = request.format == .ndjson ? answer.jsonLines : answer.commaSeparated
    var rest = file[...]
    repeat {
      let chunk = rest.prefix(Self.chunkSize)
      rest = rest.dropFirst(chunk.count)
      try await responses.write(.with { $0.chunk = Array(chunk) })
    } while !rest.isEmpty
  }

  /// Answers a query from one snapshot. Amounts are converted after they were summed up, with the rates that were known
  /// at `known_at`.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the field; `TOO_MANY_ROWS`, `MIXED_DURATIONS`.
  private func answer(
    _ app: String, _ environment: Wire.Environment, _ wanted: Wire.ReportQuery?, _ call: CallContext
  ) async throws(Status) -> ReportAnswer {
    let app = try context.catalog.value.app(app)
    let environment = try app.environment(environment)
    guard let wanted else { throw .missingField("query", "query is missing") }
    let now = context.now(in: environment)
    let query = try Self.query(wanted, app)
    let knownAt = try Reports.ReportQuery.knownAt(wanted).map { min($0, now) }
    let rates = try RateTable(wanted, or: app.reports.rates, knownAt: knownAt)
    let found = try await context.readExpensively(call) { reader throws(StoreError) in
      try ReportFindings(query, knownAt: knownAt, of: app, in: environment, reader)
    }
    let sums =
      wanted.convertTo.isEmpty ? found.sums : rates.convert(found.sums, to: wanted.convertTo)
    do throws(ReportTable.Failure) {
      return ReportAnswer(
        query: found.query, environment: environment,
        table: try ReportTable(found.query, sums).limited(found.query),
        revisions: found.revisions, differences: found.differences, closed: found.closed?.day,
        knownAt: knownAt.map { found.closed?.closedAt ?? $0 } ?? now,
        isUnconverted: !wanted.convertTo.isEmpty
          && sums.groups.contains { !$0.currency.isEmpty && $0.currency != wanted.convertTo },
        brokenDays: found.brokenDays)
    } catch {
      throw Status(error)
    }
  }
}

extension Status {
  fileprivate init(_ failure: ReportTable.Failure) {
    switch failure {
    case .mixedDurations:
      self.init(
        .invalidArgument, reason: "MIXED_DURATIONS",
        "periods of different lengths cannot be counted together; group by product or name the products",
        field: "query.group_by")
    case .tooManyRows:
      self.init(
        .resourceExhausted, reason: "TOO_MANY_ROWS",
        "the report has more than \(ReportTable.rowLimit) rows; query fewer days, longer buckets or fewer groups"
      )
    }
  }
}

extension ReportServiceHandler {
  /// The query of a request to an app with these rates.
  private static func query(
    _ wanted: Wire.ReportQuery, _ app: AppDefinition
  ) throws(Status) -> Reports.ReportQuery {
    var query = try Reports.ReportQuery(wanted)
    query.isConverted = !wanted.convertTo.isEmpty
    query.durations = ProductDurations(app)
    guard query.isConverted, !query.report.stockKinds.isEmpty else { return query }
    // Subscriptions in force have the rate of their last charge, whose day postings have only in apps with
    // rates.
    guard !app.reports.rates.isEmpty, wanted.rates.isEmpty else {
      throw .invalidField(
        "query.convert_to",
        "the report '\(wanted.report)' is converted with the rates of the configuration; set reports.rates")
    }
    guard !wanted.asFirstClosed else {
      throw .invalidField(
        "query.convert_to", "the report '\(wanted.report)' is not converted as first closed; set known_at")
    }
    return query
  }
}

/// The data of one snapshot of the store for a report.
private struct ReportFindings: Sendable {
  /// The query, with the knowledge that `known_at` selects.
  private(set) var query: Reports.ReportQuery
  let sums: ReportSums
  let revisions: [Store.ReportRevision]
  let differences: [Reports.ReportDifference]
  /// The days whose movements do not explain their stocks.
  let brokenDays: [ReportDay]
  /// The last day that was closed by then, and when it closed.
  let closed: (day: ReportDay, closedAt: Instant)?

  /// Reads what `query` needs; `knownAt` is `known_at`, or `nil` for all that is stored.
  init(
    _ query: Reports.ReportQuery, knownAt: Instant?, of definition: AppDefinition,
    in environment: AppStore.Environment, _ reader: any StoreSnapshot
  ) throws(StoreError) {
    let app = definition.id
    let closed = try reader.lastClosedDay(of: app, in: environment, by: knownAt ?? .openEnd)
    self.closed = closed
    var query = query
    if knownAt != nil {
      // Nothing is known before the first closing.
      query.knowledge = .whenClosed(closed?.day ?? ReportDay(number: -1_000_000))
    }
    if let closed { query.leaveOutOpenDays(after: closed.day) }
    self.query = query
    var sums = try reader.reportSums(query, of: app, in: environment)
    // Mostly there are none, and then the others are not copied.
    sums += try reader.reportSumsAfter(query, of: definition, in: environment)
    self.sums = sums
    brokenDays = try reader.brokenDays(
      from: query.from, to: query.to, knownBy: knownAt == nil ? nil : closed?.day, of: app, in: environment)
    revisions = try reader.reportRevisions(
      from: query.from, to: query.to, ofStocks: !query.report.stockKinds.isEmpty,
      knownBy: knownAt == nil ? nil : closed?.day, of: app, in: environment)
    differences =
      revisions.isEmpty
      ? [] : ReportDifference.all(query, try reader.reportChanges(query, of: app, in: environment))
  }
}

/// The number of postings that are read at once.
private let pageSize = 5_000

extension StoreSnapshot {
  /// Returns the sums that take back the postings of the last day after ``ReportQuery/asOf``; none without
  /// one.
  fileprivate func reportSumsAfter(
    _ query: Reports.ReportQuery, of app: AppDefinition, in environment: AppStore.Environment
  ) throws(StoreError) -> ReportSums {
    guard let asOf = query.asOf?.advanced(byMilliseconds: 1), asOf < query.to.start else { return [] }
    var durations = query.durations
    if query.groupBy.contains(.duration) { try addObservedDurations(to: &durations) }
    var sums: ReportSums = []
    var last: StoredPosting?
    while true {
      let page = try postings(
        in: asOf..<query.to.start, after: last, of: app.id, in: environment, limit: pageSize)
      sums += query.sums(
        of: page.map { ($0.posting.reversed, $0.knownAt) }, closingAfter: app.reports.closeAfter, durations)
      last = page.last
      guard page.count == pageSize else { return sums }
    }
  }
}
