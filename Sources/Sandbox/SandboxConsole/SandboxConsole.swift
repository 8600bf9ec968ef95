internal import AppStore
package import HTTP
internal import JSON
internal import Markup
internal import Pages
package import Sandbox
package import SandboxPaths

/// The pages of the sandbox: accounts, shop, clock, notifications and everything else that a tester does by hand.
///
/// A page does what one call of the sandbox's HTTP interface does, and shows that call as a command. Like the interface it
/// has no sign-in: the listener is for this machine. Pages work without scripts.
package struct SandboxConsole: Sendable {
  private var simulator: AppStoreSimulator
  /// `nil` is the world at `/`.
  private var world: WorldName?
  private let hosts: OriginPolicy
  private let answers: (any ServiceAnswers)?
  private let assets = Assets()

  /// The pages of `simulator` on a listener that accepts `hosts`. `answers` are those of a service in the same process,
  /// which follows the world at `/`.
  package init(
    _ simulator: AppStoreSimulator, hosts: OriginPolicy, answers: (any ServiceAnswers)? = nil
  ) {
    self.simulator = simulator
    self.hosts = hosts
    self.answers = answers
  }

  /// The same pages of another world. The paths of its requests are those within the world.
  package func of(_ simulator: AppStoreSimulator, _ world: WorldName?) -> SandboxConsole {
    var console = self
    (console.simulator, console.world) = (simulator, world)
    return console
  }

  /// Whether the path is of a page or of a file of pages; all others belong to the interfaces.
  package static func serves(_ path: String) -> Bool {
    path == "/" || ["/apps", "/assets"].contains { path == $0 || path.hasPrefix($0 + "/") }
  }

  /// Responds to a request for a path that ``serves(_:)``. The transport leaves out the body of a response to HEAD.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    var response = await answer(request)
    SecurityHeaders.add(to: &response, isSecure: false)
    return response
  }

  /// Responds without the headers that all pages share.
  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    // The host comes first: a page under a rebound name reads nothing.
    if let refusal = hosts.refusalOfHost(request) { return refusal }
    guard ["GET", "HEAD", "POST"].contains(request.method) else {
      return .methodNotAllowed("GET, HEAD, POST")
    }
    let path = Link.segments(ofPath: request.path)
    if path.count == 2, path[0] == "assets" { return assets.respond(path[1], to: request) }
    if request.method == "POST",
      let refusal = hosts.refusalOfForm(request) ?? request.refusalOfFormEncoding
    {
      return refusal
    }
    let clock = await simulator.clockView()
    guard path.count > 1, path[0] == "apps" else {
      return path.isEmpty ? home(clock, request) : missing(clock, request)
    }
    guard let app = simulator.apps.first(where: { $0.id == path[1] }) else { return missing(clock, request) }
    let visit = Visit(
      simulator: simulator, answers: world == nil ? answers : nil, world: world, app: app, clock: clock,
      request: request)
    let rest = Array(path.dropFirst(2))
    let outcome =
      request.method == "POST" ? await Router.submit(rest, visit) : await Router.page(rest, visit)
    switch outcome {
    case .page(var page):
      page.notice = await Receipt.notice(visit)
      return Frame.document(page, visit, assets).compressed(for: request)
    case .redirect(let link): return .redirect(to: link)
    case .response(let response): return response.compressed(for: request)
    case nil: return missing(clock, request)
    }
  }

  /// The only app, or a list of apps.
  private func home(_ clock: ClockView, _ request: HTTPRequest) -> HTTPResponse {
    if simulator.apps.count == 1, let app = simulator.apps.first {
      return .redirect(to: Link.inWorld(world, ["apps", app.id]))
    }
    let items = simulator.apps.map { app in
      "<li><a href=\"\(Link.inWorld(world, ["apps", app.id]))\">\(Format.name(app.id))</a> \(Format.id(app.identity.bundleID))</li>\n"
        as Markup
    }
    let body: Markup =
      items.isEmpty ? Part.empty(Text.noApps) : "<ul>\n\(items)</ul>"
    return Frame.plain(200, Text.apps, body, clock, world, assets).compressed(for: request)
  }

  /// The page for an address that names nothing.
  private func missing(_ clock: ClockView, _ request: HTTPRequest) -> HTTPResponse {
    let body: Markup = "<p><a href=\"\(Link.inWorld(world, []))\">\(Text.toStart)</a></p>"
    return Frame.plain(404, Text.noSuchPage, body, clock, world, assets).compressed(for: request)
  }
}

/// The result of a request for a page or of a form.
enum Outcome: Sendable {
  /// A page, drawn with the frame that all share.
  case page(Page)
  /// The page after a form, so that a reload does not submit it again.
  case redirect(Link)
  /// A response that is no page, such as a script.
  case response(HTTPResponse)
}

/// Finds the page of an address below an app.
enum Router {
  /// The page for a GET; `nil` if there is none.
  static func page(_ path: [String], _ visit: Visit) async -> Outcome? {
    switch (path.first, path.count) {
    case (nil, _): .page(await OverviewPage.page(visit))
    case ("shop", 1): .page(await ShopPage.page(visit))
    case ("accounts", 1): .page(await AccountsPage.page(visit))
    case ("accounts", 2): await AccountPage.page(path[1], visit).map(Outcome.page)
    case ("notifications", 1): .page(await NotificationsPage.page(visit))
    case ("notifications", 2): await NotificationPage.page(path[1], visit).map(Outcome.page)
    case ("catalog", 1): .page(await CatalogPage.page(visit))
    case ("settings", 1): .page(await SettingsPage.page(visit))
    case ("journal", 1): .page(await JournalPage.page(visit))
    case ("journal.sh", 1): .response(await JournalPage.script(visit))
    case ("faults", 1): .page(await FaultsPage.page(visit))
    case ("scenarios", 1): .page(ScenariosPage.page(visit))
    case ("do", 1): .page(OperationsPage.page(visit))
    case ("do", 2):
      if let operation = Operation(path[1]) { .page(await OperationPage.form(operation, visit)) } else { nil }
    default: nil
    }
  }

  /// The result of a form; `nil` if there is none.
  static func submit(_ path: [String], _ visit: Visit) async -> Outcome? {
    guard path.count == 2, path[0] == "do", let operation = Operation(path[1]) else { return nil }
    return await OperationPage.submit(operation, visit)
  }
}
