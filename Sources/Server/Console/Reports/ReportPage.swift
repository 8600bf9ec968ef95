internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// One chart: its form, the picture, the same as a table, definitions and revisions.
enum ReportPage {
  /// The most revisions of a page.
  private static let maxRevisions = 100

  /// `GET …/reports/CHART`, with the query of ``ReportFilter``. An error of the report takes the place of the chart, so
  /// that the person can change the form.
  static func page(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let (chart, filter) = try await request(name, in: scope, visit)
    let form = ReportForm.markup(chart, filter, scope)
    let content: Markup
    do throws(Status) {
      content = try await self.content(chart, filter, in: scope, visit)
    } catch {
      content = Part.failure(error)
    }
    return Page(
      chart.title, in: scope, section: .reports,
      body: """
        <p><a href="\(scope.reports())">\(Text.reports)</a></p>
        <h1>\(chart.title)</h1>
        <p>\(chart.use)</p>
        \(form)
        \(content)
        """)
  }

  /// The chart of a name and what its page is about.
  static func request(
    _ name: String, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> (chart: ReportChart, filter: ReportFilter) {
    guard let chart = ReportChart(rawValue: name), visit.mayCall(Calls.queryReport) else {
      throw .noSuchPage
    }
    return (chart, ReportFilter(chart, visit, now: try await now(in: scope, visit)))
  }

  /// The time in the environment: a sandbox has a clock that testers advance. The call also refuses a person who may not
  /// see reports of the app, because ``ReportAnswers`` are not asked for again.
  static func now(in scope: Scope, _ visit: Visit) async throws(Status) -> Instant {
    let today = ReportDay(visit.now)
    let request = QueryReportRequest.about(scope) {
      $0.query = .with {
        // It reads the cells of one day, and not those of all days before it.
        $0.report = Reports.Report.Name.refunds.rawValue
        $0.startTime = GoogleProtobuf.Timestamp(today.start)
        $0.endTime = GoogleProtobuf.Timestamp(today.end)
      }
    }
    return try await visit.call(Calls.queryReport, request).knownAt?.instant ?? visit.now
  }

  private static func content(
    _ chart: ReportChart, _ filter: ReportFilter, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> Markup {
    let picture = try await ReportPicture.load(chart, filter, in: scope, visit)
    let data = picture.data
    guard !data.rows.isEmpty else { return state(data) + Part.empty(Text.noReportRows) }
    let csv = Link(scope.path + ["reports", "\(chart.rawValue).csv"], query: filter.items)
    return """
      \(state(data))
      \(currencies(data))
      \(picture.legend)
      <div class="lanes chart" tabindex="0" role="region" aria-label="\(chart.title)">
      \(picture.svg)
      </div>
      <h2>\(Text.numbers)</h2>
      <div class="numbers">\(picture.table)</div>
      <p class="actions"><a href="\(csv)">\(Text.listAsCSV)</a></p>
      <details><summary>\(Text.definitions)</summary>
      \(Table.properties(data.response.columns.map { (Format.words($0.name), "\($0.definition)") }))</details>
      <h2>\(Text.revisions)</h2>
      \(revisions(data))
      <p><a href="\(Link(scope.path + ["reports"], fragment: "reconciliation"))">\(Text.reconciliation)</a></p>
      """
  }

  /// Up to when days are closed, and what was known.
  private static func state(_ data: ReportData) -> Markup {
    let knowledge =
      data.filter.isFirstClosed
      ? Text.asFirstClosed : data.filter.known == nil ? Text.asKnownNow : Text.asKnownThen
    let conversion: Markup =
      data.filter.converts(data.report) ? "<p class=\"quiet\">\(Text.convertedHint)</p>" : ""
    let notes = data.response.notes.map { "<li class=\"chip grace\">\($0)</li>" as Markup }
    return """
      <ul class="facts"><li>\(Text.daysAreUTC)</li>\
      <li>\(Text.closedUntil) \(Format.time(data.response.closedUntil))</li>\
      <li>\(knowledge) \(Format.time(data.response.knownAt))</li>\(notes)</ul>\(conversion)
      """
  }

  private static func currencies(_ data: ReportData) -> Markup {
    let all = data.currencies
    guard all.count > 1 else { return "" }
    let links = all.map { currency -> Markup in
      if currency == data.currency { return "<strong>\(currency)</strong>" }
      let link = data.scope.report(data.chart).adding(query: data.filter.items(with: "currency", currency))
      return "<a class=\"button\" href=\"\(link)\">\(currency)</a>"
    }
    return "<p class=\"row actions\">\(Text.oneCurrency) \(links.joined(separator: " "))</p>"
  }

  private static func revisions(_ data: ReportData) -> Markup {
    let latest = data.response.revisions.suffix(maxRevisions).reversed()
    guard !latest.isEmpty else { return Part.empty(Text.noRevisions) }
    let rows = latest.map { revision in
      let causes = revision.causes.map { "\(Format.words($0.cause)): \($0.postings)" }
      return [
        "\(revision.day?.day.text ?? "")", "\(revision.number)", "\(revision.knownDay?.day.text ?? "")",
        "\(causes.joined(separator: ", "))",
      ] as [Markup]
    }
    return Table.markup(
      Text.revisions, heads: [Text.day, Text.revisionNumber, Text.knownWith, Text.causes], rows: rows)
  }

  /// The rows of the report as the contract has them: thousandths, and amounts for a year.
  static func csv(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> HTTPResponse {
    let (chart, filter) = try await request(name, in: scope, visit)
    let picture = try await ReportPicture.load(chart, filter, in: scope, visit)
    let data = picture.data
    let heads = ["bucket", "group", "currency", "age"] + data.response.columns.map(\.name) + ["incomplete"]
    let rows = data.response.rows.map { row -> [String] in
      let key = [row.bucket?.day.text ?? "", row.groups.first ?? "", row.currency, String(row.age)]
      return key + row.values.map { String($0) } + [row.incomplete ? "true" : "false"]
    }
    return .csv([heads] + rows)
  }
}
