import RPC
import Synchronization
import Testing
import Wire

@testable import Console
@testable import Services

@Suite final class DeadLettersTests: Sendable {
  private let left = Mutex<[String: Int64]>(["first": 2, "second": 2])

  private var webhooks: Method {
    .asyncUnary(Calls.listWebhooks.path) {
      (_: ListWebhooksRequest, _) async throws(Status) -> ListWebhooksResponse in
      let left = self.left.withLock { $0 }
      return .with {
        $0.webhooks = ["first", "second"].map { name in
          Wire.Webhook.with { ($0.name, $0.kind, $0.deadLetters) = (name, .events, left[name] ?? 0) }
        }
      }
    }
  }

  /// Two pages of one message each.
  private var deliveries: Method {
    .asyncUnary(Calls.listDeliveries.path) {
      (request: ListDeliveriesRequest, _) async throws(Status) -> ListDeliveriesResponse in
      let last = "\(request.webhook)-last"
      guard ["", last].contains(request.pageToken) else {
        throw Status(.invalidArgument, "the token is of another list")
      }
      return .with {
        $0.deliveries = [.with { $0.type = request.webhook + (request.pageToken.isEmpty ? ".1" : ".2") }]
        $0.nextPageToken = request.pageToken.isEmpty ? last : ""
      }
    }
  }

  @Test(
    "A list continues where it was after the messages of a webhook were discarded",
    arguments: [
      (1, ["first.1", "second.1", "second.2"]), (2, ["first.1", "first.2", "second.1", "second.2"]),
    ])
  func discarded(after pages: Int, expected: [String]) async throws {
    let console = try await SignedInConsole([webhooks, deliveries])
    var shown: [String] = []
    var target: String? = "/a/ocean/sandbox/work/dead-letters"
    while let page = target {
      let response = await console.get(page)
      #expect(response.status == 200)
      let text = String(decoding: response.body, as: UTF8.self)
      shown += expected.filter { text.contains("<code>\($0)</code>") }
      target = text.split(separator: "href=\"").first { $0.contains("dead-letters?page=") }
        .map { String($0.prefix { $0 != "\"" }) }
      if shown.count == pages { left.withLock { $0["first"] = 0 } }
    }
    #expect(shown == expected)
  }
}
