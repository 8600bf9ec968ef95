internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// Who looked at customers, and who changed them.
enum AuditPage {
  static func page(_ visit: Visit) async throws(Status) -> Page {
    let response = try await visit.call(
      Calls.listAuditEntries,
      .with {
        $0.app = visit.value("app") ?? ""
        $0.customerId = visit.value("customer") ?? ""
        $0.actor = visit.value("actor") ?? ""
        $0.method = visit.value("method") ?? ""
        $0.pageToken = visit.value("page") ?? ""
      })
    let rows = response.entries.map { entry in
      [
        Format.time(entry.time),
        Format.name([entry.caller, entry.actor].filter { !$0.isEmpty }.joined(separator: " / ")),
        "<code>\(entry.method.split(separator: "/").last.map(String.init) ?? entry.method)</code>",
        Format.name(entry.app),
        Format.name((entry.customerIds + [entry.subject].filter { !$0.isEmpty }).joined(separator: ", ")),
        Format.name(entry.note),
        entry.outcome == "OK" ? "OK" : Part.chip(entry.outcome, .none), Format.id(entry.requestId),
      ] as [Markup]
    }
    let fields = [("customer", Text.customer), ("actor", Text.actor), ("method", Text.method)].map {
      name, label in
      "<label for=\"\(name)\">\(label)</label> <input type=\"text\" id=\"\(name)\" name=\"\(name)\" value=\"\(visit.value(name) ?? "")\" maxlength=\"256\">\n"
        as Markup
    }
    let query =
      ["app", "customer", "actor", "method"].map { ($0, visit.value($0)) } + [
        ("page", response.nextPageToken.given)
      ]
    let next: Markup =
      response.nextPageToken.isEmpty
      ? "" : "<p><a href=\"\(Link(["audit"], query: query))\">\(Text.older)</a></p>"
    let table = Table.markup(
      Text.audit,
      heads: [
        Text.when, Text.actor, Text.method, Text.app, Text.subjectHead, Text.reason, Text.outcome,
        Text.requestID,
      ], rows: rows)
    return Page(
      Text.audit, section: .audit,
      body: """
        <h1>\(Text.audit)</h1>
        <form class="row" action="\(Link(["audit"]))" method="get">\(fields)<button>\(Text.filter)</button></form>
        <div class="cards-on-phones">\(rows.isEmpty ? Part.empty(Text.noEntries) : table)</div>
        \(next)
        """)
  }
}
