internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// What the text of the search box names, in all apps and environments that the person may see.
enum FindPage {
  private static let size: Int32 = 100

  static func page(_ visit: Visit) async throws(Status) -> Page {
    guard let text = visit.value("q") else {
      return Page(
        Text.find, section: .customers, body: "<h1>\(Text.find)</h1>\n\(Part.empty(Text.findEmpty))")
    }
    let found = try await visit.call(
      Calls.findCustomers,
      .with {
        $0.query = text
        $0.pageSize = size
      })
    let body: Markup = """
      <h1>\(Text.find): \(Format.name(text))</h1>
      \(found.hits.isEmpty ? try await nothing(text, visit) : list(found))
      """
    return Page("\(Text.find): \(text)", section: .customers, body: body)
  }

  private static func list(_ found: FindCustomersResponse) -> Markup {
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
      if let id = hit.evidenceId {
        links.append("<a href=\"\(scope.evidence(id))\">\(Text.evidence(id))</a>")
      }
    case .event:
      if let sequence = hit.sequence {
        links.append("<a href=\"\(scope.event(sequence))\">\(Text.event(sequence))</a>")
      }
    default: break
    }
    links += hit.customerIds.prefix(10).map { id in
      "<a href=\"\(scope.customer(id))\">\(Format.name(id))</a>"
    }
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
      for environment in [Wire.Environment.production, .sandbox]
      where isID && visit.mayCall(Calls.refreshPurchase) {
        let scope = Scope(app: app, environment: environment)
        offers.append(
          "<a class=\"button\" href=\"\(scope.action(.refresh, [("transaction", text)]))\">\(Text.askForTransaction(app, environment.slug))</a>"
        )
      }
    }
    let links: Markup = offers.isEmpty ? "" : "<p class=\"row actions\">\(offers)</p>"
    return Part.empty(Text.notHere) + links
  }
}
