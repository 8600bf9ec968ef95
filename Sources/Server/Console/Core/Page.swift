internal import AppStore
internal import HTTP
internal import Markup

/// The content of a page, which ``Frame`` draws the rest around.
struct Page: Sendable {
  var title: String
  var scope: Scope?
  var section: Section?
  var status = 200
  /// Another moment than now that the figures are about.
  var asOf: Instant?
  /// The address of the same page about now.
  var present: Link?
  /// The number beside *Work* in the navigation.
  var openWork: Int64?
  var body: Markup

  init(_ title: String, in scope: Scope? = nil, section: Section? = nil, body: Markup) {
    self.title = title
    self.scope = scope
    self.section = section
    self.body = body
  }

  /// The parts of the navigation.
  enum Section: String, Sendable, CaseIterable {
    case customers, work, status, audit
  }
}

/// The response to a request: a page, another address, or a file.
enum Outcome: Sendable {
  case page(Page)
  /// The browser continues with GET (RFC 9110, section 15.4.4).
  case redirect(Link)
  case response(HTTPResponse)
}

/// A table that scrolls by itself if it is wider than the page.
enum Table {
  /// The table. Readers that do not see it get `label` as its name; each row has a cell for each of `heads`.
  static func markup(_ label: String, heads: [String], rows: [[Markup]]) -> Markup {
    let head = heads.map { "<th scope=\"col\">\($0)</th>" as Markup }
    let body = rows.map { cells in
      let row = zip(heads, cells).map { head, cell in "<td data-head=\"\(head)\">\(cell)</td>" as Markup }
      return "<tr>\(row)</tr>\n" as Markup
    }
    return """
      <div class="scroll" tabindex="0" role="region" aria-label="\(label)"><table>
      <thead><tr>\(head)</tr></thead>
      <tbody>
      \(body)</tbody></table></div>
      """
  }

  /// Names and values in two columns; rows without a value are left out.
  static func properties(_ rows: [(String, Markup?)]) -> Markup {
    let items = rows.compactMap { name, value in
      value.map { "<div><dt>\(name)</dt><dd>\($0)</dd></div>\n" as Markup }
    }
    return "<dl class=\"properties\">\n\(items)</dl>"
  }
}
