internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One customer: what the customer has, why, and what to do about it.
enum CustomerPage {
  static func page(_ id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let data = try await CustomerData(id, in: scope, visit)
    var steps: ExplainResponse?
    if let entitlement = visit.value("explain") {
      steps = try await visit.call(
        Calls.explain,
        .with {
          $0.app = scope.app
          $0.customerId = id
          $0.environment = scope.environment
          $0.entitlement = entitlement
          $0.asOf = data.moment.timestamp
          $0.knownAt = data.moment.knownAt
        })
    }
    var page = Page(data.id, in: scope, section: .customers, body: body(data, steps, visit))
    page.asOf = data.moment.asOf
    page.present = scope.customer(data.id)
    return page
  }

  private static func body(_ data: CustomerData, _ steps: ExplainResponse?, _ visit: Visit) -> Markup {
    let now = data.moment.asOf ?? data.now
    let verdicts = Verdict.all(data)
    let cards = verdicts.map { verdict in
      let query = [("explain", verdict.entitlement.name as String?)] + data.momentQuery
      return verdict.card(
        in: data.scope, at: now,
        explain: Link(data.scope.path + ["customers", data.id], query: query, fragment: "explanation"))
    }
    return """
      <h1>\(Format.id(data.id))</h1>
      \(header(data))
      \(data.moment.asOf == nil ? CustomerActions.bar(data, ticket: ticket(data, verdicts), visit) : "")
      \(notices(data))
      <section class="cards" aria-label="\(Text.verdicts)">
      \(cards)</section>
      \(steps.map { explanation($0, in: data.scope) } ?? "")
      \(picture(data))
      \(CustomerSections.purchases(data, visit))
      \(CustomerTimeline.section(data, visit))
      \(CustomerSections.others(data, visit))
      """
  }

  /// What is known about the customer besides purchases.
  private static func header(_ data: CustomerData) -> Markup {
    var facts: [Markup] = []
    if let since = data.firstKnown {
      facts.append("<span class=\"quiet\">\(Text.since)</span> \(Format.time(since))")
    }
    let tokens = Set(data.transactions.map(\.appAccountToken)).subtracting([""]).sorted()
    facts += tokens.prefix(3).map { "<span class=\"quiet\">appAccountToken</span> \(Format.id($0))" }
    let storefronts = Set(data.transactions.map(\.storefront)).subtracting([""]).sorted()
    if !storefronts.isEmpty {
      facts.append("<span class=\"quiet\">\(Text.storefront)</span> \(storefronts.joined(separator: ", "))")
    }
    if let member = (try? data.family.get())?.members.first(where: { !$0.customerId.isEmpty }) {
      facts.append(
        """
        <span class="quiet">\(Text.family)</span> <a href="\(data.scope.customer(member.customerId))">\
        \(Format.name(member.customerId))</a> \(Text.probably(member.confidence))
        """)
    }
    return "<ul class=\"facts\">\(facts.map { "<li>\($0)</li>\n" as Markup })</ul>"
  }

  private static func notices(_ data: CustomerData) -> Markup {
    var notices: [Markup] = []
    if !data.customer.known { notices.append("<p class=\"notice\">\(Text.unknownCustomer)</p>\n") }
    for environment in data.description.activeInEnvironments {
      let other = Scope(app: data.scope.app, environment: environment)
      notices.append(
        "<p class=\"notice\">\(Text.activeIn(environment.slug)) <a href=\"\(other.customer(data.id))\">\(Text.openThere)</a></p>\n"
      )
    }
    for conflict in data.customer.tokenConflicts {
      notices.append(
        "<p class=\"notice\">\(Text.tokenConflict(conflict.originalTransactionId, conflict.tokenCustomerId))</p>\n"
      )
    }
    for request in data.description.openRefundRequests {
      let left = request.answerBy?.instant.map { Format.span(max(0, $0.milliseconds(since: data.now))) } ?? ""
      notices.append(
        "<p class=\"notice\">\(Text.refundAsked(request.productId, left)) <a href=\"\(data.scope.work(.refunds))\">\(Text.openQueue)</a></p>\n"
      )
    }
    return notices.joined()
  }

  private static func explanation(_ steps: ExplainResponse, in scope: Scope) -> Markup {
    let later = steps.laterChanges.map { change in
      "<li>\(change.explanation) <code>\(change.kind)</code> \(Format.time(change.recordedAt))</li>\n"
        as Markup
    }
    return """
      <section id="explanation"><h2>\(Text.why(steps.entitlement?.name ?? ""))</h2>
      \(steps.contradictions.map { "<p class=\"problem\">\($0)</p>\n" as Markup })\
      \(Steps.list(steps.steps, in: scope))
      \(later.isEmpty ? "" : "<h3>\(Text.laterChanges)</h3><ul>\(later)</ul>")</section>
      """
  }

  /// Five lines for a ticket.
  private static func ticket(_ data: CustomerData, _ verdicts: [Verdict]) -> String {
    let lines = verdicts.map { "\($0.entitlement.name): \($0.sentence) (\($0.entitlement.reason))" }
    return ([data.description.summary] + lines + ["\(Text.asOf) \(Format.moment(data.now))"]).joined(
      separator: "\n")
  }
}

// The picture with its slider.
extension CustomerPage {
  private static func evidence(_ id: Int64, _ scope: Scope) -> Markup {
    id == 0 ? "" : "<a href=\"\(scope.evidence(id))\">\(Text.evidence(id))</a>"
  }

  private static func picture(_ data: CustomerData) -> Markup {
    let title = Text.pictureTitle(data.id)
    let head: Markup = "<h2 id=\"history\">\(title)</h2>"
    let history: GetCustomerHistoryResponse
    let axis: GetCustomerHistoryResponse
    do throws(Status) {
      history = try data.history.get()
      axis = try data.axis.get()
    } catch {
      return head + Part.failure(error)
    }
    guard let start = axis.firstInstant else { return head + Part.empty(Text.noHistory) }
    let picture = LanesPicture(
      lanes: Lane.all(history), geometry: LanesGeometry(start: start, now: data.now), asOf: data.moment.asOf,
      title: title)
    return """
      \(head)
      \(picture.legend)
      <div class="lanes" tabindex="0" role="region" aria-label="\(title)">
      \(picture.svg)
      \(slider(data, picture.geometry, axis))
      </div>
      <details><summary>\(Text.asTable)</summary>
      \(picture.table(Text.evidenceHead) { evidence($0, data.scope) })
      <p><a href="\(Link(data.scope.path + ["customers", data.id, "history.csv"]))">\(Text.asCSV)</a></p></details>
      """
  }

  private static func slider(
    _ data: CustomerData, _ geometry: LanesGeometry, _ axis: GetCustomerHistoryResponse
  ) -> Markup {
    let (first, last) = (geometry.start.millisecondsSince1970 / 1_000, data.now.millisecondsSince1970 / 1_000)
    let value = data.moment.asOf.map { $0.millisecondsSince1970 / 1_000 } ?? last
    let moments = Set(axis.lanes.flatMap(\.marks).compactMap { $0.time?.seconds }).sorted()
    let isKnownThen: Markup = data.moment.isKnownThen ? " checked" : ""
    return """
      <form action="\(data.scope.customer(data.id))" method="get">
      <div class="slider"><label for="at">\(Text.asOf)</label>
      <input id="at" type="range" name="at" min="\(first)" max="\(last)" step="60" value="\(value)">
      <span></span></div>
      <div class="row moments" id="moments-of-events" data-moments="\(moments.map(String.init).joined(separator: " "))">
      <output id="moment" for="at">\(Format.moment(data.moment.asOf ?? data.now))</output>
      <label><input type="checkbox" name="known" value="then"\(isKnownThen)>\(Text.knownThen)</label>
      <button>\(Text.show)</button></div>
      </form>
      """
  }

  /// The history as CSV.
  static func csv(_ id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> HTTPResponse {
    let history = try await visit.call(
      Calls.getCustomerHistory,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
        $0.asOf = Moment(visit).timestamp
      })
    var rows = [
      ["lane", "name", "since", "until", "reason", "product_id", "transaction_id", "price", "currency"]
    ]
    for lane in history.lanes {
      let kind = Format.value(lane.kind, "HISTORY_LANE_KIND_")
      rows += lane.segments.map { segment in
        [
          kind, lane.name, segment.since?.instant?.description ?? "",
          segment.until?.instant?.description ?? "",
          segment.reason, segment.productId, segment.transactionId,
          segment.price.map { String($0.milliunits) } ?? "", segment.price?.currency ?? "",
        ]
      }
      rows += lane.marks.map {
        [kind, lane.name, $0.time?.instant?.description ?? "", "", $0.type, "", $0.transactionId, "", ""]
      }
    }
    return .csv(rows)
  }
}

extension GetCustomerHistoryResponse {
  /// The first instant at which something is to be drawn; `nil` if there is nothing.
  var firstInstant: Instant? {
    let drawn = lanes.flatMap { lane in
      lane.segments.filter { $0.accessLevel != .none || !$0.transactionId.isEmpty }.compactMap {
        $0.since?.instant
      }
        + lane.marks.compactMap { $0.time?.instant }
    }
    return drawn.min()
  }
}

extension CustomerData {
  /// The query that keeps the moment of the page.
  var momentQuery: [(name: String, value: String?)] {
    [
      ("at", moment.asOf.map { String($0.millisecondsSince1970 / 1_000) }),
      ("known", moment.isKnownThen ? "then" : nil),
    ]
  }

  /// The latest transactions of the customer's products.
  var transactions: [Transaction] { customer.products.compactMap(\.latestTransaction) }

  /// The first thing that is stored about the customer.
  var firstKnown: Instant? {
    let purchases = transactions.compactMap { $0.originalPurchaseDate?.instant }
    return (purchases + [(try? axis.get())?.firstInstant].compactMap(\.self)).min()
  }
}

extension HTTPResponse {
  /// A response with comma-separated values (RFC 4180). A text that a spreadsheet would take for a formula begins with
  /// an apostrophe.
  static func csv(_ rows: [[String]]) -> HTTPResponse {
    let lines = rows.map { row in
      row.map { cell in
        let text =
          cell.first.map { "=+-@\t\r".contains($0) } == true && Double(cell) == nil ? "'" + cell : cell
        guard text.contains(where: { ",\"\r\n".contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
      }.joined(separator: ",")
    }
    return HTTPResponse(
      status: 200,
      headers: HeaderFields([
        ("content-type", "text/csv; charset=utf-8"), ("content-disposition", "attachment"),
      ]), body: Array((lines.joined(separator: "\r\n") + "\r\n").utf8))
  }
}
