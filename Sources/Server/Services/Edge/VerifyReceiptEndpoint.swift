internal import AppStore
package import HTTP
internal import JSON
package import ReceiptMigration

/// `verifyReceipt` on the edge, for backends that still call it.
///
///     POST /verifyReceipt                 the app by the receipt's bundle id, in any of its environments
///     POST /verifyReceipt/{app}           the app by the operator's name for it
///     POST /production/verifyReceipt, /sandbox/verifyReceipt, either with /{app}
///                                         one environment, as Apple's two hosts have
package struct VerifyReceiptEndpoint: Sendable {
  private static let environments: [Substring: Environment] = [
    "production": .production, "sandbox": .sandbox,
  ]

  private let facade: VerifyReceiptFacade

  /// The endpoint before `facade`.
  package init(facade: VerifyReceiptFacade) { self.facade = facade }

  /// Whether a path is one at which receipts arrive.
  package func serves(_ path: String) -> Bool { Self.place(path) != nil }

  /// Answers a request to a path that ``serves(_:)`` accepts. As at Apple, what is wrong is said by the status in the
  /// body, and the answer's own is 200; but Apple has no apps in its paths.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let place = Self.place(request.path) else {
      return .text(404, "there is nothing at \(request.path)\n")
    }
    if let app = place.app, !facade.serves(app: app) {
      return .text(404, "there is no app \(app.debugDescription)\n")
    }
    guard request.method == "POST" else { return Self.answer(.failed(.notPosted, place.environment)) }
    guard let question = VerifyReceiptCall(request.body) else {
      return Self.answer(.failed(.malformedOrTemporary, place.environment))
    }
    return Self.answer(await facade.answer(to: question, appID: place.app, in: place.environment))
  }

  /// What a path says; `nil` for a path of something else.
  private static func place(_ path: String) -> (environment: Environment?, app: String?)? {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let environment = parts.first.flatMap { environments[$0] }
    if environment != nil { parts.removeFirst() }
    guard parts.popFirst() == "verifyReceipt", parts.count <= 1 else { return nil }
    return (environment, parts.first.flatMap { $0.isEmpty ? nil : String($0) })
  }

  private static func answer(_ answer: VerifyReceiptAnswer) -> HTTPResponse {
    .json(200, answer.json.serialized())
  }
}
