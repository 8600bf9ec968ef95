internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON
internal import Markup
internal import Pages
internal import Sandbox
internal import SandboxPaths

/// One request for a page of an app, with what all parts of the page read. The clock was read once, so that one page
/// shows one time.
struct Visit: Sendable {
  /// The world whose pages these are.
  let simulator: AppStoreSimulator
  /// The answers of the service that follows this world; `nil` without one.
  let answers: (any ServiceAnswers)?
  /// `nil` is the world at `/`.
  let world: WorldName?
  let app: SandboxApp
  /// The simulated time at the beginning of the request.
  let clock: ClockView
  let request: HTTPRequest
  /// The items of the address.
  let query: Query
  /// The fields of a submitted form.
  let form: Query

  /// Parses the query of the address, and of a POST the form.
  init(
    simulator: AppStoreSimulator, answers: (any ServiceAnswers)?, world: WorldName?, app: SandboxApp,
    clock: ClockView, request: HTTPRequest
  ) {
    self.simulator = simulator
    self.answers = answers
    self.world = world
    self.app = app
    self.clock = clock
    self.request = request
    query = Query(request.query)
    form = Query(request.method == "POST" ? String(decoding: request.body, as: UTF8.self) : "")
  }

  /// The value of a query item without surrounding spaces; `nil` if it is empty.
  func value(_ name: String) -> String? { query[name]?.trimmed.given }

  /// The host and port under which the browser reaches the sandbox, which the listener has checked.
  private var host: String { request.header("host") ?? "127.0.0.1:8090" }

  /// The sandbox and the world that commands name.
  var target: CommandTarget { CommandTarget(host: host, world: world) }

  /// A page of the app.
  func link(_ path: [String], _ query: [(name: String, value: String?)] = []) -> Link {
    Link.inWorld(world, ["apps", app.id] + path, query: query)
  }

  /// The page of an account.
  func account(_ name: String) -> Link { link(["accounts", name]) }
  /// A link to the page of an account, with its name.
  func accountLink(_ name: String) -> Markup { "<a href=\"\(account(name))\">\(Format.name(name))</a>" }

  /// The form of an operation, filled in with `values`.
  func form(_ operation: Operation, _ values: [(name: String, value: String?)] = []) -> Link {
    link(["do", operation.name], values)
  }
}

extension Link {
  /// A path in a world; `nil` is the world at `/`.
  static func inWorld(
    _ world: WorldName?, _ path: [String], query: [(name: String, value: String?)] = []
  ) -> Link {
    Link((world.map { ["w", $0.text] } ?? []) + path, query: query)
  }
}

/// The content of a page, which ``Frame`` draws the rest around.
struct Page: Sendable {
  /// The parts of the navigation; the raw values are the segments of their addresses.
  enum Section: String, CaseIterable, Sendable {
    case overview = ""
    case accounts, shop, catalog, notifications, journal, scenarios, faults, settings
    case everything = "do"
  }

  let title: String
  /// The part of the navigation that is marked as current.
  let section: Section
  var status = 200
  /// The result of the action before the page.
  var notice: Markup = ""
  let body: Markup
}
