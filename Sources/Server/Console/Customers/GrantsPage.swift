internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The grants in force, in the form of a built-in segment. Grants are no purchases, so no segment has them.
enum GrantsPage {
  /// The name in addresses.
  static let name = "granted"

  /// The calls of one page: grants that have ended make no empty pages.
  private static let maxCalls = 50
  private static let heads = [
    Text.customer, Text.entitlement, Text.accessHead, Text.from, Text.to, Text.source, Text.inWords,
    Text.actions,
  ]
  private static let columns = [
    "customer_id", "entitlement", "access_level", "since", "until", "source", "grant_id", "actor", "note",
  ]

  /// `GET …/segments/built-in/granted`. A page has about 100 grants, after at most ``maxCalls`` calls of `ListGrants`;
  /// `page` is the token of the next one.
  static func page(in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let now = try await visit.time(in: scope)
    var token = visit.value("page") ?? ""
    var grants: [Grant] = []
    var calls = 0
    repeat {
      let response = try await list(after: token, size: 100, scope, visit)
      grants += response.grants.filter { $0.isInForce(at: now) }
      token = response.nextPageToken
      calls += 1
    } while grants.isEmpty && !token.isEmpty && calls < maxCalls
    let table =
      grants.isEmpty
      ? Part.empty(Text.noGrants)
      : Table.markup(Text.segmentGranted, heads: heads, rows: grants.map { cells($0, at: now, scope, visit) })
    let next = Part.next(token) { link(in: scope, page: $0) }
    return Page(
      Text.segmentGranted, in: scope, section: .segments,
      body: """
        <p><a href="\(scope.segments())">\(Text.segments)</a></p>
        <h1>\(Text.segmentGranted)</h1>
        <p>\(Text.grantedHint)</p>
        <p class="quiet">\(Text.asOf) \(Format.time(now)) <span data-zone>UTC</span></p>
        <div class="cards-on-phones">\(table)</div>
        \(next)
        \(Part.file(Text.listAsCSV, link(in: scope, suffix: ".csv")))
        """)
  }

  /// All grants in force.
  static func csv(in scope: Scope, _ visit: Visit) async throws(Status) -> HTTPResponse {
    let now = try await visit.time(in: scope)
    return try await .csv(columns) { page async throws(Status) in
      let response = try await list(after: page, size: 1_000, scope, visit)
      return (response.grants.filter { $0.isInForce(at: now) }.map(values), response.nextPageToken)
    }
  }

  private static func list(
    after token: String, size: Int32, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> ListGrantsResponse {
    try await visit.call(
      Calls.listGrants,
      .with {
        ($0.app, $0.environment) = (scope.app, scope.environment)
        $0.pageSize = size
        $0.pageToken = token
      })
  }

  private static func cells(_ grant: Grant, at now: Instant, _ scope: Scope, _ visit: Visit) -> [Markup] {
    let fields = [("grant", grant.grantId as String?), ("customer", grant.customerId)]
    let revoke: Markup =
      ActionName.revoke.isOpen(to: visit) && grant.isRevocable(at: now)
      ? "<a href=\"\(scope.action(.revoke, fields))\">\(ActionName.revoke.title)…</a>" : ""
    return [
      scope.customerLink(grant.customerId),
      Format.name(grant.entitlement), "\(Format.value(grant.accessLevel, "ACCESS_LEVEL_"))",
      Format.time(grant.since), grant.until == nil ? "\(Text.noEnd)" : Format.time(grant.until),
      grant.source.isEmpty ? "\(Text.meaning(of: .grant))" : Format.name(grant.source),
      "\(visit.links.note(grant.note)) <span class=\"quiet\">\(Format.name(grant.actor))</span>",
      revoke,
    ]
  }

  private static func values(_ grant: Grant) -> [String] {
    [
      grant.customerId, grant.entitlement,
      String(grant.accessLevel.protoName.dropFirst("ACCESS_LEVEL_".count)),
      grant.since.text, grant.until.text, grant.source, grant.grantId, grant.actor, grant.note,
    ]
  }

  /// The address of the list, or of its CSV file with the suffix `.csv`.
  static func link(in scope: Scope, page: String? = nil, suffix: String = "") -> Link {
    Link(scope.path + ["segments", "built-in", name + suffix], query: [("page", page)])
  }
}

extension Grant {
  fileprivate func isInForce(at now: Instant) -> Bool {
    !isOver(at: now) && (since?.instant.map { $0 <= now } ?? true)
  }

  /// Whether it can be ended here. The store of a purchase decides about its end.
  func isRevocable(at now: Instant) -> Bool { source.isEmpty && !isOver(at: now) }

  private func isOver(at now: Instant) -> Bool {
    revokedAt != nil || (until?.instant.map { $0 <= now } ?? false)
  }
}
