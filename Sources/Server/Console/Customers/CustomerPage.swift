internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One customer: what the customer has, why, and what to do about it.
enum CustomerPage {
  /// `GET …/customers/ID`. `at` and `known` select the point in time (``PointInTime``); `explain` names an entitlement
  /// whose answer is explained below it.
  ///
  /// - Throws: the status of `GetCustomer`. Parts that fail show their error instead of their content.
  static func page(_ id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let data = try await CustomerData(id, in: scope, visit)
    var steps: Result<ExplainResponse, Status>?
    if let entitlement = visit.value("explain") {
      steps = await visit.attempt(
        Calls.explain,
        .about(data.id, in: scope) {
          $0.entitlement = entitlement
          $0.asOf = data.pointInTime.timestamp
          $0.knownAt = data.pointInTime.knownAt
        })
    }
    var page = Page(data.id, in: scope, section: .customers, body: body(data, steps, visit))
    page.pointInTime = data.pointInTime
    page.now = data.now
    page.present = scope.customer(data.id)
    return page
  }

  /// Facts that conflict come before all answers, because these rest on them.
  private static func contradictions(_ data: CustomerData) -> Markup {
    switch data.contradictions {
    case .failure(let status): return Part.failure(status, of: Text.queueContradictions)
    case .success(let response):
      return response.contradictions.map { contradiction in
        """
        <p class="problem"><strong>\(Text.contradiction)</strong> \(contradiction.explanation) \
        <code>\(contradiction.kind)</code></p>

        """
      }.joined()
    }
  }

  private static func body(
    _ data: CustomerData, _ steps: Result<ExplainResponse, Status>?, _ visit: Visit
  ) -> Markup {
    let now = data.pointInTime.asOf ?? data.now
    let verdicts = Verdict.all(data)
    let cards = verdicts.map { verdict in
      let query = [("explain", verdict.entitlement.name as String?)] + data.pointInTimeQuery
      return verdict.card(
        in: data.scope, at: now,
        explain: Link(data.scope.path + ["customers", data.id], query: query, fragment: "explanation"))
    }
    return """
      <h1>\(Format.id(data.id))</h1>
      \(header(data, visit))
      \(EventsSincePage.bar(data))
      \(data.pointInTime.asOf == nil ? CustomerActions.bar(data, ticket: ticket(data, verdicts), visit) : "")
      \(notices(data))
      \(contradictions(data))
      \(data.descriptionProblem.map { Part.failure($0, of: Text.adviceTitle) } ?? "")
      \(verdictSection(data, cards))
      \(steps.map { explanation($0, in: data.scope) } ?? "")
      \(CustomerPicture.section(data, visit))
      \(parts)
      \(CustomerSections.purchases(data, visit))
      \(CustomerTimeline.section(data, visit))
      \(CustomerSections.others(data, visit))
      \(RawAnswers.section(data, visit))
      """
  }

  /// Links to the parts below, because the page is long.
  private static let parts: Markup = {
    let links = [
      ("purchases", Text.purchases), ("timeline", Text.timeline), ("refunds", Text.refundRequests),
      ("family", Text.probableFamily), ("notes", Text.notes), ("attributes", Text.attributes),
    ].map { id, title in "<a href=\"#\(id)\">\(title)</a>\n" as Markup }
    return "<nav class=\"row parts actions\" aria-label=\"\(Text.parts)\">\(links)</nav>"
  }()

  /// The cards of the verdicts, or the reason that there is none.
  private static func verdictSection(_ data: CustomerData, _ cards: [Markup]) -> Markup {
    let isPast = data.pointInTime.asOf != nil
    if isPast, case .failure(let status) = data.history { return Part.failure(status, of: Text.verdicts) }
    guard !cards.isEmpty else { return Part.empty(isPast ? Text.noVerdictsThen : Text.noVerdicts) }
    return "<section class=\"cards\" aria-label=\"\(Text.verdicts)\">\n\(cards)</section>"
  }

  /// Draws the customer's data besides purchases.
  private static func header(_ data: CustomerData, _ visit: Visit) -> Markup {
    var facts: [Markup] = []
    if let since = data.firstKnown {
      facts.append("<span class=\"quiet\">\(Text.since)</span> \(Format.time(since))")
    }
    let bought = data.transactions.filter { data.pointInTime.includes($0.originalPurchaseDate) }
    let tokens = Set(bought.map(\.appAccountToken)).subtracting([""]).sorted()
    facts += tokens.prefix(3).map { "<span class=\"quiet\">\(Text.appAccountToken)</span> \(Format.id($0))" }
    let storefronts = Set(bought.map(\.storefront)).subtracting([""]).sorted()
    if !storefronts.isEmpty {
      facts.append("<span class=\"quiet\">\(Text.storefront)</span> \(storefronts.joined(separator: ", "))")
    }
    facts += paid(data)
    if let member = (try? data.family.get())?.members.first(where: { !$0.customerId.isEmpty }) {
      facts.append(
        """
        <span class="quiet">\(Text.family)</span> \(data.scope.customerLink(member.customerId)) \
        \(Text.probably(member.confidence))
        """)
    }
    let merged = data.description.mergedCustomerIds
    if !merged.isEmpty {
      let names = merged.prefix(maxMerged).map { Format.name($0) } as [Markup]
      let rest = merged.count - names.count
      facts.append(
        """
        <span class="quiet">\(Text.merged)</span> \(names.joined(separator: ", "))\
        \(rest > 0 ? Text.andMore(rest) : "")
        """)
    }
    if let link = visit.links.customer(data.id) {
      facts.append("<a href=\"\(link)\" rel=\"noreferrer\">\(Text.openInCRM)</a>")
    }
    return "<ul class=\"facts\">\(facts.map { "<li>\($0)</li>\n" as Markup })</ul>"
  }

  private static let maxMerged = 5

  /// Draws the customer's payments at the page's point in time, and whether prices are missing in them.
  private static func paid(_ data: CustomerData) -> [Markup] {
    guard let history = try? data.history.get() else { return [] }
    let totals = history.paid.map { Format.money($0.total ?? Money()) }
    let refunded = history.paid.compactMap(\.refunded).filter { $0.milliunits > 0 }.map(Format.money)
    guard !totals.isEmpty || history.purchasesWithoutPrice > 0 else { return [] }
    let notes =
      (refunded.isEmpty ? [] : [Text.refundedOfPaid(refunded.joined(separator: " + "))])
      + (history.purchasesWithoutPrice > 0 ? [Text.withoutPrice(history.purchasesWithoutPrice)] : [])
    let sum = totals.isEmpty ? Text.notKnown : totals.joined(separator: " + ")
    return [
      """
      <span class="quiet">\(Text.paid)</span> \(sum)\
      \(notes.isEmpty ? "" : "<span class=\"quiet\"> (\(notes.joined(separator: "; ")))</span>" as Markup)
      """
    ]
  }

  private static func notices(_ data: CustomerData) -> Markup {
    var notices: [Markup] = []
    if !data.customer.known { notices.append("<p class=\"notice\">\(Text.unknownCustomer)</p>\n") }
    guard data.pointInTime.asOf == nil else { return (notices + data.consentNotices).joined() }
    // They are about now, and no method returns them for another point in time.
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
      let left = request.answerBy?.instant.map { Format.span(max(0, $0.milliseconds(since: data.now))) }
      notices.append(
        "<p class=\"notice\">\(Text.refundAsked(request.productId, left)) <a href=\"\(data.scope.work(.refunds))\">\(Text.openQueue)</a></p>\n"
      )
    }
    return (notices + data.consentNotices).joined()
  }

  private static func explanation(_ answer: Result<ExplainResponse, Status>, in scope: Scope) -> Markup {
    let steps: ExplainResponse
    do throws(Status) { steps = try answer.get() } catch {
      return "<section id=\"explanation\">\(Part.failure(error, of: Text.stepsTitle))</section>"
    }
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

  /// A few lines for a ticket, to which the script adds the address of the page.
  private static func ticket(_ data: CustomerData, _ verdicts: [Verdict]) -> String {
    let lines = verdicts.map { "\($0.entitlement.name): \($0.sentence) (\($0.entitlement.reason))" }
    let state = "\(Text.asOf) \(Format.minuteUTC(data.now)), \(Text.event(data.customer.sequence))"
    return ([data.description.summary] + lines + [state]).joined(separator: "\n")
  }
}

// The history for programs.
extension CustomerPage {
  /// The history that the picture shows, as CSV.
  static func csv(_ id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> HTTPResponse {
    let loader = CustomerLoader(id: id, scope: scope, pointInTime: PointInTime(visit), visit: visit)
    let history = try await loader.history(isWhole: visit.value("range") != nil, loader.pointInTime).get()
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
  /// The query parameters with which a link keeps the page's point in time.
  var pointInTimeQuery: [(name: String, value: String?)] {
    [
      ("at", pointInTime.asOf.map { String($0.millisecondsSince1970 / 1_000) }),
      ("known", pointInTime.isKnownThen ? "then" : nil),
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
