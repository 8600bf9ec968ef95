internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import RPC

/// The content of a page, which ``Frame`` draws the rest around.
struct Page: Sendable {
  var title: String
  /// The app and environment that the navigation has; `nil`: the page is about none.
  var scope: Scope?
  /// The part of the navigation that is marked; `nil`: none.
  var section: Section?
  var status = 200
  /// The point in time that the figures are about; `nil`: now.
  var pointInTime: PointInTime?
  /// The time of the page by the clock of its environment; `nil`: the page does not know it.
  var now: Instant?
  /// The address of the same page about now.
  var present: Link?
  /// The number beside *Work* in the navigation.
  var openWork: Int64?
  /// The content of the `main` element.
  var body: Markup

  init(_ title: String, in scope: Scope? = nil, section: Section? = nil, body: Markup) {
    self.title = title
    self.scope = scope
    self.section = section
    self.body = body
  }

  /// The parts of the navigation.
  enum Section: String, Sendable, CaseIterable {
    case customers, work, segments, reports, status, audit
  }
}

/// The response to a request: a page, another address, or a file.
enum Outcome: Sendable {
  case page(Page)
  /// The browser continues with GET (RFC 9110, section 15.4.4).
  case redirect(Link)
  case response(HTTPResponse)
}

extension Status {
  /// The failure of a path without a page, or with one that the person may not see.
  static var noSuchPage: Status { Status(.notFound, reason: "NO_SUCH_PAGE", Text.noSuchPage) }
}
