import HTTP
import RPC
import Synchronization
import Testing
import Wire

@testable import Console

/// Confirmed forms that are sent again because the outcome of the first request is unknown.
@Suite struct ActionKeysTests {
  private final class Keys: Sendable {
    private let list = Mutex<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func append(_ key: String) { list.withLock { $0.append(key) } }
  }

  /// Confirms a form twice; `keys` gets the idempotency key of each request, which fails.
  private func confirmTwice(
    _ action: ActionName, _ form: String, _ methods: [Method], _ keys: Keys
  ) async throws {
    let console = try await SignedInConsole(methods)
    let path = "/a/ocean/sandbox/do/\(action.rawValue)"
    let preview = String(decoding: await console.post(path, form).body, as: UTF8.self)
    let field = "name=\"token\" value=\""
    let start = try #require(preview.firstRange(of: field)?.upperBound)
    let token = preview[start...].prefix { $0 != "\"" }
    for _ in 0..<2 { _ = await console.post(path, "\(form)&token=\(token)") }
    #expect(keys.all.count == 2)
    #expect(Set(keys.all).count == 1)
    #expect(keys.all.first?.isEmpty == false)
  }

  @Test("A note that is confirmed again has the idempotency key of the first request")
  func note() async throws {
    let keys = Keys()
    let method = Method.asyncUnary(Calls.addNote.path) {
      (request: AddNoteRequest, _) async throws(Status) -> AddNoteResponse in
      keys.append(request.idempotencyKey)
      throw Status(.unavailable)
    }
    try await confirmTwice(.addNote, "customer=ada&text=called", [method], keys)
  }

  @Test("A resend that is confirmed again has the idempotency key of the first request")
  func resend() async throws {
    let keys = Keys()
    let webhooks = Method.asyncUnary(Calls.listWebhooks.path) {
      (_: ListWebhooksRequest, _) async throws(Status) -> ListWebhooksResponse in ListWebhooksResponse()
    }
    let resend = Method.asyncUnary(Calls.resendDeliveries.path) {
      (request: ResendDeliveriesRequest, _) async throws(Status) -> ResendDeliveriesResponse in
      keys.append(request.idempotencyKey)
      throw Status(.unavailable)
    }
    try await confirmTwice(.resend, "webhook=billing&kind=1&note=outage", [webhooks, resend], keys)
  }
}
