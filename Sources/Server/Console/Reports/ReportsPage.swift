internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The list of charts.
enum ReportsPage {
  /// The apps and environments with reports, for people who may see nothing else.
  static func apps(_ visit: Visit) async throws(Status) -> Page {
    guard visit.mayCall(Calls.queryReport) else { throw .noSuchPage }
    let answer = try await visit.call(Calls.whoAmI, WhoAmIRequest())
    let rows = answer.apps.flatMap { app in
      [Wire.Environment.production, .sandbox].map { environment -> [Markup] in
        let scope = Scope(app: app, environment: environment)
        return [
          Format.name(app), "\(environment.slug)",
          "<a href=\"\(scope.reports())\">\(Text.title(Text.reports, of: app, environment.slug))</a>",
        ]
      }
    }
    let table =
      rows.isEmpty
      ? Part.empty(Text.noApps)
      : Table.markup(Text.appsTitle, heads: [Text.app, Text.environment, Text.reports], rows: rows)
    return Page(
      Text.reports, section: .reports, body: "<h1>\(Text.reports)</h1>\n\(table)")
  }

  /// `GET …/reports`: the charts, and the days that were compared with Apple's reports.
  ///
  /// - Throws: `NO_SUCH_PAGE` for a person without the role of `QueryReport`.
  static func overview(in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    guard visit.mayCall(Calls.queryReport) else { throw .noSuchPage }
    let cards = ReportChart.allCases.map { chart in
      "<article class=\"card\"><h2><a href=\"\(scope.report(chart))\">\(chart.title)</a></h2><p>\(chart.use)</p></article>\n"
        as Markup
    }
    return Page(
      Text.reports, in: scope, section: .reports,
      body: """
        <h1>\(Text.reports)</h1>
        <p>\(Text.reportsHint)</p>
        <div class="cards">\(cards)</div>
        \(await ReconciliationStrip.section(in: scope, visit))
        """)
  }
}
