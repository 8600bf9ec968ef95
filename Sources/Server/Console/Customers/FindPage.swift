internal import Bytes
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// Search results for the text of the search box, in all apps and environments that the person may see.
enum FindPage {
  private static let size: Int32 = 100
  private static let maxQueryBytes = 256

  /// The text of the search box. A document is shown at once, so that it never becomes part of an address.
  static func submit(_ visit: Visit) async throws(Status) -> Outcome {
    // White space around an id may belong to it.
    let text = visit.form["q"] ?? ""
    let document = text.trimmed
    guard isDocument(document) else {
      // The app and environment of the page with the box.
      let origin = ["app", "environment"].map { ($0, visit.form[$0]?.given) }
      return .redirect(
        Link(["find"], query: [("q", (text.utf8.count > maxQueryBytes ? document : text).given)] + origin))
    }
    return .page(try await InspectPage.page(document, visit))
  }

  /// Whether a text is a JWS, a receipt or a notification: no id is as long, has two dots after a JSON object in Base64,
  /// or is JSON.
  static func isDocument(_ text: String) -> Bool {
    text.utf8.count > maxQueryBytes || text.hasPrefix("{")
      || text.hasPrefix("eyJ") && text.count { $0 == "." } == 2
  }

  /// `GET /find?q=TEXT`. Redirects to the page of the only hit, unless the hit is in another app or environment than
  /// the one in `app` and `environment`, from which the person searched.
  static func page(_ visit: Visit) async throws(Status) -> Outcome {
    guard let text = visit.query["q"], let words = text.trimmed.given else {
      return .page(
        Page(Text.find, section: .customers, body: "<h1>\(Text.find)</h1>\n\(Part.empty(Text.findEmpty))"))
    }
    let found = try await hits(text, visit)
    // A search for a transaction finds the transaction and its purchase, which have the same page.
    let links = Set(found.hits.map(page(of:)))
    let scopes = found.hits.map { Scope(app: $0.app, environment: $0.environment) }
    let missed = origin(visit).flatMap { scopes.isEmpty || scopes.contains($0) ? nil : $0 }
    if links.count == 1, missed == nil, found.nextPageToken.isEmpty, let link = links.first ?? nil {
      return .redirect(link)
    }
    let elsewhere: Markup =
      missed.map { "<p class=\"notice\">\(Text.notIn($0.app, $0.environment.slug))</p>\n" } ?? ""
    let body: Markup = """
      <h1>\(Text.find): \(Format.name(text))</h1>
      \(elsewhere)\(found.hits.isEmpty ? try await nothing(words, visit) : list(found))
      """
    return .page(Page("\(Text.find): \(text)", section: .customers, body: body))
  }

  /// The app and environment in which the person was.
  private static func origin(_ visit: Visit) -> Scope? {
    guard let app = visit.value("app"), let environment = visit.value("environment") else { return nil }
    return Scope(app, environment)
  }

  /// Calls `FindCustomers`: in all apps that the person may see, or in `app`.
  static func hits(_ text: String, in app: String = "", _ visit: Visit) async throws(Status)
    -> FindCustomersResponse
  {
    try await visit.call(
      Calls.findCustomers,
      .with {
        $0.query = text
        $0.app = app
        $0.pageSize = size
      })
  }

  /// The page of the only hit; `nil` if it has several.
  private static func page(of hit: CustomerHit) -> Link? {
    let scope = Scope(app: hit.app, environment: hit.environment)
    switch hit.kind {
    case .evidence, .notification: return hit.evidenceId.map(scope.evidence)
    case .event: return hit.sequence.map(scope.event)
    case .erasedCustomer: return nil
    default: break
    }
    if hit.customerIds.isEmpty { return hit.originalTransactionId.given.map(scope.purchase) }
    return hit.customerIds.count == 1 ? scope.customer(hit.customerIds[0]) : nil
  }

  /// The hits as a table, in the order of the response.
  static func list(_ found: FindCustomersResponse) -> Markup {
    let table = Table.markup(
      Text.hits, heads: [Text.recognizedAs, Text.inWords, Text.app, Text.environment, Text.open],
      rows: found.hits.map(row))
    return !found.nextPageToken.isEmpty ? "<p class=\"notice\">\(Text.moreHits)</p>\n\(table)" : table
  }

  private static func row(_ hit: CustomerHit) -> [Markup] {
    let scope = Scope(app: hit.app, environment: hit.environment)
    return [
      "\(Format.value(hit.kind, "CUSTOMER_HIT_KIND_"))", Format.name(hit.explanation), Format.name(hit.app),
      "\(hit.environment.slug)", links(of: hit, in: scope).joined(separator: "<br>"),
    ]
  }

  private static func links(of hit: CustomerHit, in scope: Scope) -> [Markup] {
    var links: [Markup] = []
    switch hit.kind {
    case .evidence, .notification:
      if let id = hit.evidenceId { links.append(scope.evidenceLink(id)) }
    case .event:
      if let sequence = hit.sequence {
        links.append("<a href=\"\(scope.event(sequence))\">\(Text.event(sequence))</a>")
      }
    default: break
    }
    links += hit.customerIds.prefix(10).map(scope.customerLink)
    if !hit.originalTransactionId.isEmpty {
      links.append(
        "<a href=\"\(scope.purchase(hit.originalTransactionId))\">\(Text.purchase) \(hit.originalTransactionId)</a>"
      )
    }
    return links
  }

  /// Nothing is stored: Apple may have an order or a transaction of that id.
  private static func nothing(_ text: String, _ visit: Visit) async throws(Status) -> Markup {
    let apps = try await visit.call(Calls.whoAmI, WhoAmIRequest()).apps
    var offers: [Markup] = []
    let isID = text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    for app in apps where text.utf8.count <= 64 {
      if visit.mayCall(Calls.lookUpOrder) {
        let scope = Scope(app: app, environment: .production)
        offers.append(
          "<a class=\"button\" href=\"\(scope.action(.lookUpOrder, [("order", text)]))\">\(Text.askForOrder(app))</a>"
        )
      }
      if isID { offers += [.production, .sandbox].compactMap { askApple(about: text, app, $0, visit) } }
    }
    if let scope = origin(visit), apps.contains(scope.app), visit.mayCall(Calls.getCustomer) {
      offers.append(
        "<a class=\"button\" href=\"\(scope.customer(text))\">\(Text.openNewCustomer(scope.app, scope.environment.slug))</a>"
      )
    }
    let links: Markup = offers.isEmpty ? "" : "<p class=\"row actions\">\(offers)</p>"
    return Part.empty(Text.notHere) + links
  }

  /// A link that asks Apple about a transaction; `nil` if the person may not.
  static func askApple(
    about transaction: String, _ app: String, _ environment: Wire.Environment, _ visit: Visit
  ) -> Markup? {
    guard visit.mayCall(Calls.refreshPurchase) else { return nil }
    let link = Scope(app: app, environment: environment).action(.refresh, [("transaction", transaction)])
    return "<a class=\"button\" href=\"\(link)\">\(Text.askForTransaction(app, environment.slug))</a>"
  }
}
