internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The apps and environments that the person may see.
enum HomePage {
  static func page(_ visit: Visit) async throws(Status) -> Page {
    let status = try await visit.call(Calls.getStatus, GetStatusRequest())
    let rows = status.apps.map { app in row(app) }
    let table = Table.markup(
      Text.appsTitle,
      heads: [
        Text.app, Text.environment, Text.lastNotification, Text.refundRequests, Text.work, Text.reports,
        Text.catalog,
      ],
      rows: rows)
    return Page(
      Text.customers, section: .customers,
      body: """
        <h1>\(Text.homeTitle)</h1>
        <p>\(Text.homeHint)</p>
        <form class="row" action="\(Link(["find"]))" method="post">
        <label for="home-find">\(Text.findLabel)</label>
        <input id="home-find" type="search" name="q" size="40" autocomplete="off">
        <button class="primary">\(Text.find)</button></form>
        <h2>\(Text.appsTitle)</h2>
        \(rows.isEmpty ? Part.empty(Text.noApps) : table)
        """)
  }

  private static func row(_ app: AppStatus) -> [Markup] {
    let scope = Scope(app: app.app, environment: app.environment)
    let open: Markup =
      app.openConsumptionRequests == 0
      ? "0" : Part.chip(Text.openCount(app.openConsumptionRequests), .grace)
    return [
      Format.name(app.app), "\(app.environment.slug)", Format.time(app.lastNotificationAt), open,
      "<a href=\"\(scope.work())\">\(Text.workOf(app.app, app.environment.slug))</a>",
      "<a href=\"\(scope.reports())\">\(Text.reportsOf(app.app, app.environment.slug))</a>",
      "<a href=\"\(scope.catalog())\">\(Text.catalogOf(app.app, app.environment.slug))</a>",
    ]
  }
}
