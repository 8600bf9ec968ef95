internal import Bytes
internal import JSON
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// A pasted document: decoded, verified, and with the purchases that it is about. Nothing of it is stored.
enum InspectPage {
  private static let maxApps = 20
  private static let maxPurchases = 10

  /// The result of `POST /find` with a document. Calls `Inspect` for the person's apps, at most ``maxApps`` of them,
  /// until the document verifies for one; otherwise shows the result of the app that it names.
  static func page(_ text: String, _ visit: Visit) async throws(Status) -> Page {
    let apps = try await visit.call(Calls.whoAmI, WhoAmIRequest()).apps
    var best: (app: String, document: InspectResponse)?
    for app in apps.prefix(maxApps) {
      let document = try await visit.call(
        Calls.inspect,
        .with {
          $0.app = app
          $0.content = .document(text)
        })
      if document.verified {
        best = (app, document)
        break
      }
      // A document of another app is about that app, also if it does not verify there.
      if best == nil || best?.document.reason == "WRONG_BUNDLE" { best = (app, document) }
    }
    guard let (app, document) = best else {
      return Page(
        Text.document, section: .customers, body: "<h1>\(Text.document)</h1>\n\(Part.empty(Text.noApps))")
    }
    return Page(
      Text.document, section: .customers,
      body: """
        <h1>\(Text.document)</h1>
        <p>\(Text.checkedFor) \(Format.name(app)). \(Text.notStored)</p>
        <h2>\(Text.purchases)</h2>
        \(try await purchases(of: document, app, visit))
        \(DocumentMarkup.document(document))
        """)
  }

  /// The purchases in the document with their customers, or the offer to ask Apple about them.
  private static func purchases(
    of document: InspectResponse, _ app: String, _ visit: Visit
  ) async throws(Status) -> Markup {
    let ids = PayloadIDs.purchases(in: [document.payloadJson] + document.documents.map(\.payloadJson))
    guard !ids.isEmpty else { return Part.empty(Text.noPurchaseInDocument) }
    var found = FindCustomersResponse()
    var missing: [Markup] = []
    for id in ids.prefix(maxPurchases) {
      let hits = try await FindPage.hits(id, in: app, visit).hits.filter { $0.originalTransactionId == id }
      found.hits += hits
      guard hits.isEmpty else { continue }
      let environment = document.environment == .production ? Wire.Environment.production : .sandbox
      missing.append(
        "<p class=\"row\">\(Text.purchaseNotHere(id)) \(FindPage.askApple(about: id, app, environment, visit) ?? "")</p>\n"
      )
    }
    return "\(missing)\(found.hits.isEmpty ? "" : FindPage.list(found))"
  }
}

/// The ids of purchases in a payload of Apple's.
enum PayloadIDs {
  private static let names: Set<String> = ["originalTransactionId", "original_transaction_id"]
  private static let maxDepth = 16

  /// The original transaction ids in JSON documents, each once, in their order.
  static func purchases(in documents: [String]) -> [String] {
    var found: [String] = []
    for document in documents {
      if let value = try? JSONValue(parsing: Array(document.utf8)) { add(value, to: &found, depth: 0) }
    }
    return found.distinctIDs
  }

  private static func add(_ value: JSONValue, to found: inout [String], depth: Int) {
    guard depth < maxDepth else { return }
    switch value {
    case .array(let items): for item in items { add(item, to: &found, depth: depth + 1) }
    case .object(let members):
      for (name, member) in members {
        if names.contains(name), let id = text(member) {
          found.append(id)
        } else {
          add(member, to: &found, depth: depth + 1)
        }
      }
    default: break
    }
  }

  /// Receipts have numbers as texts, some documents as numbers.
  private static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text.given
    case .number: String(decoding: value.serialized(), as: UTF8.self)
    default: nil
    }
  }
}
