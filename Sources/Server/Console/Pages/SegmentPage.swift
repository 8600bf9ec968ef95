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

  /// The most rows of a CSV.
  private static let maxRows = 10_000
  /// Rows up to this number are counted.
  private static let maxCount: Int64 = 10_000
  private static let heads = [
    Text.customer, Text.purchase, Text.productHead, Text.state, Text.since, Text.ends, Text.price,
  ]
  private static let columns = [
    "customer_id", "original_transaction_id", "product_id", "state", "reason", "since", "ends_at",
    "storefront", "payment_mode", "price_milliunits", "currency", "annual_milliunits", "paid_days",
  ]

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
        .saved(segment.name), conditions(segment.filter), countChip(segment.total), scope)
    }
    let builtIn = BuiltInSegment.allCases.map { card(.builtIn($0), $0.hint, "", scope) }
    return Page(
      Text.segments, in: scope, section: .segments,
      body: """
        <h1>\(Text.segments)</h1>
        <p>\(Text.segmentsHint) <a href="\(HomePage.link)">\(Text.allApps)</a></p>
        <h2>\(Text.savedSegments)</h2>
        <p class="quiet">\(Text.savedSegmentsHint)</p>
        \(saved.isEmpty ? Part.empty(Text.noSegments) : "<div class=\"cards\">\(saved)</div>")
        <h2>\(Text.builtInSegments)</h2>
        <div class="cards">\(builtIn)\(GrantsPage.card(in: scope))\(refundRequests(scope))</div>
        """)
  }

  /// Customers who asked for a refund are a work list, because each has a deadline.
  private static func refundRequests(_ scope: Scope) -> Markup {
    """
    <article class="card"><h3><a href="\(scope.work(.refunds))">\(Text.queueRefunds)</a></h3>
    <p>\(Text.hintRefunds)</p></article>

    """
  }

  private static func card(
    _ selection: Selection, _ hint: String, _ count: Markup, _ scope: Scope
  ) -> Markup {
    """
    <article class="card"><h3><a href="\(scope.segment(selection))">\(selection.title)</a> \(count)</h3>
    <p>\(hint)</p></article>

    """
  }

  static func page(_ selection: Selection, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let response = try await rows(
      of: selection, after: visit.value("page") ?? "", isFile: false, scope, visit)
    let next: Markup =
      response.nextPageToken.isEmpty
      ? ""
      : "<p><a href=\"\(scope.segment(selection, query: [("page", response.nextPageToken)]))\">\(Text.nextPage)</a></p>"
    let table =
      response.rows.isEmpty
      ? Part.empty(Text.emptySegment)
      : Table.markup(selection.title, heads: heads, rows: response.rows.map { cells($0, scope) })
    let total: Markup = response.total.map { countChip($0) } ?? ""
    let explained: Markup =
      selection.builtIn.map { "<p>\($0.hint)</p>\n<p class=\"quiet\">\(conditions($0.filter))</p>" } ?? ""
    return Page(
      selection.title, in: scope, section: .segments,
      body: """
        <p><a href="\(scope.segments())">\(Text.segments)</a></p>
        <h1>\(selection.title) \(total)</h1>
        \(explained)
        <p class="quiet">\(Text.asOf) \(Format.time(response.asOf)) <span data-zone>UTC</span></p>
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

  /// All rows of a segment, at most 10,000.
  static func csv(
    _ selection: Selection, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> HTTPResponse {
    var lines = [columns]
    var page = ""
    repeat {
      let response = try await rows(of: selection, after: page, isFile: true, scope, visit)
      lines += response.rows.map(values)
      page = response.nextPageToken
    } while !page.isEmpty && lines.count <= maxRows
    return .csv(Array(lines.prefix(maxRows + 1)))
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
        $0.pageSize = isFile ? 1_000 : 100
      })
  }

  private static func cells(_ row: SegmentRow, _ scope: Scope) -> [Markup] {
    let customer: Markup =
      row.customerId.isEmpty
      ? "<em>\(Text.noCustomer)</em>"
      : scope.customerLink(row.customerId)
    return [
      customer,
      "<a href=\"\(scope.purchase(row.originalTransactionId))\">\(Format.id(row.originalTransactionId))</a>",
      Format.name(row.productId), "\(Format.value(row.state, "ENTITLEMENT_STATE_"))", Format.time(row.since),
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

  /// The conditions as names and values.
  private static func conditions(_ filter: SegmentFilter?) -> String {
    guard let filter else { return "" }
    let lists = [
      filter.states.map { Format.value($0, "ENTITLEMENT_STATE_") },
      filter.paymentModes.map { Format.value($0, "PAYMENT_MODE_") }, filter.productIds,
      filter.inAppOwnershipTypes.map { Format.value($0, "IN_APP_OWNERSHIP_TYPE_") },
      filter.subscriptionGroups, filter.entitlements, filter.storefronts,
    ].filter { !$0.isEmpty }.map { $0.joined(separator: Text.orWord) }
    let days = [
      (filter.minDaysInState, Text.atLeastDays), (filter.maxDaysInState, Text.lessThanDays),
      (filter.endsWithinDays, Text.endsWithin), (filter.commitmentEndsWithinDays, Text.commitmentEndsWithin),
      (filter.minPaidDays, Text.paidDays),
    ].compactMap { number, text in number.map { text($0) } }
    let times = [
      filter.sinceFrom == nil ? nil : "\(Text.since) \(filter.sinceFrom.text)",
      filter.sinceBefore == nil ? nil : "\(Text.before) \(filter.sinceBefore.text)",
    ].compactMap(\.self)
    let flags = [
      filter.needsPriceConsent ? Text.needsConsent : nil, filter.hasWinBackOffer ? Text.winBack : nil,
      filter.unclaimed.map { $0 ? Text.unclaimed : Text.claimed },
    ].compactMap(\.self)
    let all = lists + days + times + flags
    return all.isEmpty ? Text.allPurchases : all.joined(separator: " · ")
  }
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
