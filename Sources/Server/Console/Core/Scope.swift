internal import Markup
internal import Pages
internal import Wire

/// The app and the environment that a page is about. Both are in the page's address, so that a link keeps its meaning.
struct Scope: Hashable, Sendable {
  /// The app's id in the configuration. It is not checked here: the called method rejects an unknown one.
  let app: String
  let environment: Wire.Environment

  init(app: String, environment: Wire.Environment) {
    self.app = app
    self.environment = environment
  }

  /// The scope of the segments after `/a`; `nil` for an unknown environment.
  init?(_ app: String, _ environment: String) {
    guard let known = Self.environments.first(where: { $0.slug == environment }) else { return nil }
    self.init(app: app, environment: known)
  }

  /// The same app in the environment of a document; this one if the document names none.
  func of(_ environment: Wire.Environment) -> Scope {
    Self.environments.contains(environment) ? Scope(app: app, environment: environment) : self
  }

  /// The environments that addresses name.
  static let environments: [Wire.Environment] = [.production, .sandbox, .xcode, .localTesting]

  /// The segments with which the addresses of all pages of the scope begin.
  var path: [String] { ["a", app, environment.slug] }

  // Addresses, and links whose text names the page.
  func customer(_ id: String) -> Link { Link(path + ["customers", id]) }
  /// An empty id is that of no customer.
  func customerLink(_ id: String) -> Markup {
    id.isEmpty ? "\(Text.noCustomer)" : "<a href=\"\(customer(id))\">\(Format.name(id))</a>"
  }

  func purchase(_ id: String) -> Link { Link(path + ["purchases", id]) }
  func purchaseLink(_ id: String) -> Markup { "<a href=\"\(purchase(id))\">\(id)</a>" }

  func evidence(_ id: Int64) -> Link { Link(path + ["evidence", String(id)]) }
  func evidenceLink(_ id: Int64) -> Markup { "<a href=\"\(evidence(id))\">\(Text.evidence(id))</a>" }

  func event(_ sequence: Int64) -> Link { Link(path + ["events", String(sequence)]) }
  func eventLink(_ sequence: Int64) -> Markup {
    "<a href=\"\(event(sequence))\" data-copy=\"#\(sequence)\">#\(sequence)</a>"
  }

  /// The list of a queue, or all queues.
  func work(_ queue: WorkQueue? = nil) -> Link { Link(path + ["work"] + (queue.map { [$0.rawValue] } ?? [])) }

  func segments() -> Link { Link(path + ["segments"]) }
  func catalog() -> Link { Link(path + ["catalog"]) }
  func reports() -> Link { Link(path + ["reports"]) }
  func report(_ chart: ReportChart) -> Link { Link(path + ["reports", chart.rawValue]) }

  /// The form of an action, filled in with `values`.
  func action(_ action: ActionName, _ values: [(name: String, value: String?)] = []) -> Link {
    Link(path + ["do", action.rawValue], query: values)
  }
}

extension Wire.Environment {
  /// The environment in addresses.
  var slug: String {
    switch self {
    case .production: "production"
    case .sandbox: "sandbox"
    case .xcode: "xcode"
    case .localTesting: "local-testing"
    case .unspecified, .unrecognized: "unknown"
    }
  }
}
