internal import Bytes
internal import Callers
internal import ContractCalls
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

  /// The entries of a page: about 17 looks, or as many calls. It stays below 30 kB.
  private static let pageSize: Int32 = 200
  /// The roles of the methods that change nothing.
  private static let lookingRoles: Set<Role> = [.read, .reports, .audit]

  /// `GET /audit`, for the role `audit`: the latest entries first, selected by ``filters``. Calls with one request id
  /// are one row.
  static func page(_ visit: Visit) async throws(Status) -> Page {
    let response = try await entries(after: visit.value("page") ?? "", size: pageSize, visit)
    let rows = AuditRow.rows(response.entries) { entry in
      visit.calls.role(of: entry.method).map(lookingRoles.contains) ?? false
    }.map { $0.cells(visit) }
    let fields = filters.map { name, label, type in
      "<label>\(label)<input type=\"\(type)\" name=\"\(name)\" value=\"\(visit.query[name] ?? "")\" maxlength=\"256\"></label>\n"
        as Markup
    }
    let query = filters.map { ($0.name, visit.query[$0.name]?.given) }
    let next = Part.next(response.nextPageToken, Text.older) {
      Link(["audit"], query: query + [("page", $0)])
    }
    let table = Table.markup(
      Text.audit,
      heads: [
        Text.when, Text.actor, Text.what, Text.app, Text.subjectHead, Text.reason, Text.outcome,
        Text.address, Text.requestID,
      ], rows: rows)
    var page = Page(
      Text.audit, section: .audit,
      body: """
        <h1>\(Text.audit)</h1>
        <p>\(Text.auditHint)</p>
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
      let response = try await entries(after: page, size: 1_000, visit)
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
    after page: String, size: Int32, _ visit: Visit
  ) async throws(Status) -> ListAuditEntriesResponse {
    try await visit.call(
      Calls.listAuditEntries,
      .with {
        $0.app = visit.value("app") ?? ""
        // As it was typed, because ids may have white space at their ends.
        $0.customerId = visit.value("customer") == nil ? "" : visit.query["customer"] ?? ""
        $0.actor = visit.value("actor") ?? ""
        $0.method = visit.value("method") ?? ""
        $0.startTime = day("from", visit).map { GoogleProtobuf.Timestamp($0.start) }
        $0.endTime = day("to", visit).map { GoogleProtobuf.Timestamp($0.end) }
        $0.pageSize = size
        $0.pageToken = page
      })
  }

  private static func day(_ name: String, _ visit: Visit) -> ReportDay? {
    visit.value(name).flatMap(ReportDay.init(text:))
  }
}
