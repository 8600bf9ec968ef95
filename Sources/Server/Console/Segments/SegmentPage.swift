internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The segments of one app and environment, and the customers of one of them.
enum SegmentPage {
  /// A segment that has a page.
  enum Selection: Sendable {
    case saved(String)
    case builtIn(BuiltInSegment)

    /// Counting reads all rows; some conditions have to look at most of them.
    fileprivate var isCounted: Bool {
      switch self {
      case .builtIn(.inTrial): false
      case .saved, .builtIn: true
      }
    }

    fileprivate var title: String {
      switch self {
      case .saved(let name): name
      case .builtIn(let segment): segment.title
      }
    }

    /// The list, if its conditions are not those of a name.
    fileprivate var builtIn: BuiltInSegment? {
      if case .builtIn(let segment) = self { segment } else { nil }
    }
  }

  private static let pageSize: Int32 = 100
  /// Rows up to this number are counted.
  private static let maxCount: Int64 = 10_000
  private static let heads = [
    Text.customer, Text.purchase, Text.productHead, Text.state, Text.sinceHead, Text.ends, Text.price,
  ]
  private static let columns = [
    "customer_id", "original_transaction_id", "product_id", "state", "reason", "since", "ends_at",
    "storefront", "payment_mode", "price_milliunits", "currency", "annual_milliunits", "paid_days",
  ]

  /// `GET …/segments`: the built-in segments, and the saved ones with their numbers of members, each counted up to
  /// ``maxCount``.
  static func overview(in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let response = try await visit.call(
      Calls.listSegments,
      .with {
        ($0.app, $0.environment) = (scope.app, scope.environment)
        $0.count = true
        $0.countLimit = maxCount + 1
        $0.pageSize = 1_000
      })
    let saved = response.segments.map { segment in
      card(
        segment.name, scope.segment(.saved(segment.name)), segment.filter?.conditions ?? "",
        countChip(segment.total))
    }
    let builtIn = BuiltInSegment.allCases.map { card($0.title, scope.segment(.builtIn($0)), $0.hint) }
    let grants = card(Text.segmentGranted, GrantsPage.link(in: scope), Text.grantedHint)
    // Customers who asked for a refund are a work list, because each has a deadline.
    let refunds = card(Text.queueRefunds, scope.work(.refunds), Text.hintRefunds)
    let always: Markup =
      "<h2>\(Text.builtInSegments)</h2>\n<div class=\"cards\">\(builtIn)\(grants)\(refunds)</div>\n"
    let own: Markup = "<h2>\(Text.savedSegments)</h2>\n"
    return Page(
      Text.segments, in: scope, section: .segments,
      body: """
        <h1>\(Text.segments)</h1>
        <p>\(Text.segmentsHint) <a href="\(HomePage.link)">\(Text.allApps)</a></p>
        \(saved.isEmpty
          ? always + own + Part.empty(Text.noSegments)
          : own + "<p class=\"quiet\">\(Text.savedSegmentsHint)</p>\n<div class=\"cards\">\(saved)</div>\n" + always)
        """)
  }

  private static func card(_ title: String, _ link: Link, _ hint: String, _ count: Markup = "") -> Markup {
    """
    <article class="card"><h3><a href="\(link)">\(title)</a> \(count)</h3>
    <p>\(hint)</p></article>

    """
  }

  /// `GET …/segments/NAME`, or `…/segments/built-in/NAME`. Members that fit on one page are sorted by their ends;
  /// longer lists keep the order of `ListCustomers`.
  static func page(_ selection: Selection, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let response = try await rows(
      of: selection, after: visit.value("page") ?? "", isFile: false, scope, visit)
    let next = Part.next(response.nextPageToken) { scope.segment(selection, query: [("page", $0)]) }
    let isWhole = response.nextPageToken.isEmpty && visit.value("page") == nil
    let rows = isWhole ? response.rows.sorted { $0.end < $1.end } : response.rows
    let table =
      rows.isEmpty
      ? Part.empty(Text.emptySegment)
      : Table.markup(selection.title, heads: heads, rows: rows.map { cells($0, scope) })
    let total: Markup = response.total.map { countChip($0) } ?? ""
    let explained: Markup =
      selection.builtIn.map { "<p>\($0.hint)</p>\n<p class=\"quiet\">\($0.filter.conditions)</p>" } ?? ""
    return Page(
      selection.title, in: scope, section: .segments,
      body: """
        <p><a href="\(scope.segments())">\(Text.segments)</a></p>
        <h1>\(selection.title) \(total)</h1>
        \(explained)
        <p class="quiet">\(Text.asOf) \(Format.time(response.asOf)) <span data-zone>UTC</span>. \
        \(isWhole ? Text.earliestEndFirst : Text.fixedOrder(Int(pageSize)))</p>
        <div class="cards-on-phones">\(table)</div>
        \(next)
        \(Part.file(Text.listAsCSV, scope.segment(selection, suffix: ".csv")))
        """)
  }

  private static func countChip(_ total: Int64?) -> Markup {
    Part.chip(count(total), (total ?? 0) == 0 ? .ended : .grace)
  }

  private static func count(_ total: Int64?) -> String {
    guard let total, total > maxCount else { return "\(total ?? 0)" }
    return Text.moreThan(Int(maxCount))
  }

  /// All rows of a segment.
  static func csv(
    _ selection: Selection, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> HTTPResponse {
    try await .csv(columns) { page async throws(Status) in
      let response = try await rows(of: selection, after: page, isFile: true, scope, visit)
      return (response.rows.map(values), response.nextPageToken)
    }
  }

  private static func rows(
    of selection: Selection, after page: String, isFile: Bool, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> ListCustomersResponse {
    try await visit.call(
      Calls.listCustomers,
      .with {
        ($0.app, $0.environment) = (scope.app, scope.environment)
        switch selection {
        case .saved(let name): $0.selection = .segment(name)
        case .builtIn(let segment): $0.selection = .filter(segment.filter)
        }
        // The same in each request of a list, because the token is for the same request.
        $0.count = !isFile && selection.isCounted
        $0.countLimit = maxCount + 1
        $0.pageToken = page
        $0.pageSize = isFile ? 1_000 : pageSize
      })
  }

  private static func cells(_ row: SegmentRow, _ scope: Scope) -> [Markup] {
    [
      scope.customerLink(row.customerId), scope.purchaseLink(row.originalTransactionId),
      Format.name(row.productId), "\(Text.name(of: row.state))", Format.time(row.since),
      row.endsAt == nil ? "" : Format.time(row.endsAt), "\(row.price.map(Format.money) ?? "")",
    ]
  }

  private static func values(_ row: SegmentRow) -> [String] {
    [
      row.customerId, row.originalTransactionId, row.productId,
      String(row.state.protoName.dropFirst("ENTITLEMENT_STATE_".count)), row.reason, row.since.text,
      row.endsAt.text, row.storefront, String(row.paymentMode.protoName.dropFirst("PAYMENT_MODE_".count)),
      row.price.map { String($0.milliunits) } ?? "", row.price?.currency ?? "",
      row.annualPrice.map { String($0.milliunits) } ?? "", String(row.paidDays),
    ]
  }
}

extension SegmentRow {
  /// The end for sorting: a row without one is the last.
  fileprivate var end: Instant { endsAt?.instant ?? .distantFuture }
}

extension Scope {
  /// The names of saved segments have no slash, so the path of a built-in one is no saved segment's.
  fileprivate func segment(
    _ selection: SegmentPage.Selection, query: [(name: String, value: String?)] = [], suffix: String = ""
  ) -> Link {
    switch selection {
    case .saved(let name): Link(path + ["segments", name + suffix], query: query)
    case .builtIn(let segment):
      Link(path + ["segments", "built-in", segment.rawValue + suffix], query: query)
    }
  }
}
