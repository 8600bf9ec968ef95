internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The apps and environments that the person may see.
enum HomePage {
  static let link = Link(["apps"])

  /// The first page: the customers of the only app, in the environment that requests have by default, or the page with all
  /// apps.
  static func start(_ visit: Visit) async throws(Status) -> Outcome {
    let status = await visit.attempt(Calls.getStatus, GetStatusRequest())
    if let apps = try? status.get().apps, let first = apps.first, apps.allSatisfy({ $0.app == first.app }),
      visit.mayCall(Calls.listSegments)
    {
      return .redirect(Scope(app: first.app, environment: first.environment).segments())
    }
    return .page(try await page(status, visit))
  }

  /// `GET /apps`: one row for each app and environment, with the last notification and the open refund requests.
  static func page(_ visit: Visit) async throws(Status) -> Page {
    try await page(await visit.attempt(Calls.getStatus, GetStatusRequest()), visit)
  }

  private static func page(
    _ status: Result<GetStatusResponse, Status>, _ visit: Visit
  ) async throws(Status) -> Page {
    let apps: Markup
    switch status {
    // Without its role, no part of the page is left.
    case .failure(let status) where status.code == .permissionDenied: throw status
    case .failure(let status): apps = Part.failure(status)
    case .success(let status):
      let rejected = await RejectedNotifications(of: status.apps, visit)
      apps = table(status.apps.map { row($0, rejected) })
    }
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
        \(apps)
        """)
  }

  private static func table(_ rows: [[Markup]]) -> Markup {
    guard !rows.isEmpty else { return Part.empty(Text.noApps) }
    return Table.markup(
      Text.appsTitle,
      heads: [Text.app, Text.environment, Text.lastNotification, Text.refundRequests, Text.open],
      rows: rows)
  }

  private static func row(_ app: AppStatus, _ rejected: RejectedNotifications) -> [Markup] {
    let scope = Scope(app: app.app, environment: app.environment)
    let count = app.openConsumptionRequests
    let open: Markup =
      count == 0
      ? "0" : "<a href=\"\(scope.work(.refunds))\">\(Part.chip(Text.openCount(count), .grace))</a>"
    return [
      Format.name(app.app), "\(app.environment.slug)", rejected.markup(after: app), open,
      links(scope),
    ]
  }

  /// The pages of an app and environment. Each name has both, for readers that do not see the row.
  private static func links(_ scope: Scope) -> Markup {
    let pages = [
      (scope.segments(), Text.segments), (scope.work(), Text.work), (scope.reports(), Text.reports),
      (scope.catalog(), Text.catalog),
    ]
    return pages.map { link, title in
      "<a href=\"\(link)\" aria-label=\"\(Text.title(title, of: scope.app, scope.environment.slug))\">\(title)</a>"
        as Markup
    }.joined(separator: " · ")
  }
}
