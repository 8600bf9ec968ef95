internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// The audit log: looks at customers, and changes of them.
enum AuditPage {
  private static let columns = [
    "number", "time", "caller", "actor", "method", "app", "customer_ids", "subject", "note", "outcome",
    "request_id", "address", "as_of", "known_at",
  ]
  /// The items of an address that select entries.
  private static let filters: [(name: String, label: String, type: String)] = [
    ("app", Text.app, "text"), ("customer", Text.customer, "text"), ("actor", Text.actor, "text"),
    ("method", Text.method, "text"), ("from", Text.fromDay, "date"), ("to", Text.toDay, "date"),
  ]

  static func page(_ visit: Visit) async throws(Status) -> Page {
    let response = try await entries(after: visit.value("page") ?? "", visit)
    let rows = response.entries.map { entry in
      [
        Format.time(entry.time), Format.name(who(entry)), "<code>\(method(entry))</code>",
        Format.name(entry.app), "\(Format.name(subjects(entry).joined(separator: ", ")))\(moments(entry))",
        visit.links.note(entry.note),
        entry.outcome == "OK" ? "\(Text.ok)" : Part.chip(entry.outcome, .none), "\(entry.address)",
        Format.id(entry.requestId),
      ] as [Markup]
    }
    let fields = filters.map { name, label, type in
      "<label>\(label)<input type=\"\(type)\" name=\"\(name)\" value=\"\(visit.value(name) ?? "")\" maxlength=\"256\"></label>\n"
        as Markup
    }
    let query = filters.map { ($0.name, visit.value($0.name)) }
    let next = Part.next(response.nextPageToken, Text.older) {
      Link(["audit"], query: query + [("page", $0)])
    }
    let table = Table.markup(
      Text.audit,
      heads: [
        Text.when, Text.actor, Text.method, Text.app, Text.subjectHead, Text.reason, Text.outcome,
        Text.address, Text.requestID,
      ], rows: rows)
    var page = Page(
      Text.audit, section: .audit,
      body: """
        <h1>\(Text.audit)</h1>
        <form class="row filter" action="\(Link(["audit"]))" method="get">\(fields)<button>\(Text.filter)</button></form>
        <div class="cards-on-phones">\(rows.isEmpty ? Part.empty(Text.noEntries) : table)</div>
        \(next)
        \(Part.file(Text.listAsCSV, Link(["audit.csv"], query: query)))
        """)
    page.now = visit.now
    return page
  }

  /// The entries that the filter selects, newest first.
  static func csv(_ visit: Visit) async throws(Status) -> HTTPResponse {
    try await .csv(columns) { page async throws(Status) in
      let response = try await entries(after: page, visit)
      let rows = response.entries.map { entry in
        [
          String(entry.number), entry.time.text, entry.caller, entry.actor, entry.method, entry.app,
          entry.customerIds.joined(separator: " "), entry.subject, entry.note, entry.outcome, entry.requestId,
          entry.address, entry.asOf.text, entry.knownAt.text,
        ]
      }
      return (rows, response.nextPageToken)
    }
  }

  private static func entries(
    after page: String, _ visit: Visit
  ) async throws(Status) -> ListAuditEntriesResponse {
    try await visit.call(
      Calls.listAuditEntries,
      .with {
        $0.app = visit.value("app") ?? ""
        $0.customerId = visit.value("customer") ?? ""
        $0.actor = visit.value("actor") ?? ""
        $0.method = visit.value("method") ?? ""
        $0.startTime = day("from", visit).map { GoogleProtobuf.Timestamp($0.start) }
        $0.endTime = day("to", visit).map { GoogleProtobuf.Timestamp($0.end) }
        $0.pageToken = page
      })
  }

  private static func day(_ name: String, _ visit: Visit) -> ReportDay? {
    visit.value(name).flatMap(ReportDay.init(text:))
  }

  private static func who(_ entry: AuditEntry) -> String {
    [entry.caller, entry.actor].filter { !$0.isEmpty }.joined(separator: " / ")
  }

  private static func method(_ entry: AuditEntry) -> String {
    entry.method.split(separator: "/").last.map(String.init) ?? entry.method
  }

  /// The moments about which the call asked, if it was not about the present.
  private static func moments(_ entry: AuditEntry) -> Markup {
    let moments = [(Text.asOf, entry.asOf), (Text.asKnownAt, entry.knownAt)].compactMap { label, time in
      time.map { "<br><span class=\"quiet\">\(label) \(Format.time($0))</span>" as Markup }
    }
    return "\(moments)"
  }

  private static func subjects(_ entry: AuditEntry) -> [String] {
    entry.customerIds + [entry.subject].filter { !$0.isEmpty }
  }
}
