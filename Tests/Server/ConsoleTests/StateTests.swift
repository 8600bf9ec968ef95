import HTTP
import RPC
import Testing
import Wire

@testable import Console
@testable import Services

/// What the pages say about the state of the service.
@Suite struct StateTests {
  private func text(_ target: String, _ status: GetStatusResponse, _ webhooks: [Webhook] = []) async throws
    -> String
  {
    let console = try await SignedInConsole([
      .asyncUnary(Calls.getStatus.path) {
        (_: GetStatusRequest, _) async throws(Status) -> GetStatusResponse in status
      },
      .asyncUnary(Calls.listWebhooks.path) {
        (_: ListWebhooksRequest, _) async throws(Status) -> ListWebhooksResponse in
        .with { $0.webhooks = webhooks }
      },
    ])
    return String(decoding: await console.get(target).body, as: UTF8.self)
  }

  @Test(
    "The number at Work is that of open refund requests, and of webhooks that are gone or have dead letters")
  func work() async throws {
    let status = GetStatusResponse.with {
      $0.apps = [
        .with {
          ($0.app, $0.environment) = ("ocean", .sandbox)
          $0.openConsumptionRequests = 2
        }
      ]
    }
    let webhooks: [Webhook] = [
      .with { $0.state = .healthy }, .with { $0.state = .gone }, .with { $0.deadLetters = 500 },
    ]
    #expect(
      try await text("/a/ocean/sandbox/nothing", status, webhooks).contains("broken webhooks\">4</span>"))
    #expect(try await text("/a/ocean/sandbox/nothing", status).contains("broken webhooks\">2</span>"))
    #expect(try await !text("/a/ocean/production/nothing", status).contains("broken webhooks"))
  }

  @Test("A person can load 300 pages at once, so that a stolen sign-in does not walk through everyone")
  func rate() async throws {
    let console = try await SignedInConsole([])
    for _ in 0..<300 { #expect(await console.get("/nothing").status == 404) }
    let refused = await console.get("/nothing")
    #expect(refused.status == 429 && String(decoding: refused.body, as: UTF8.self).contains("Too many pages"))
  }

  @Test(
    "The status page names the replica and its leader",
    arguments: [
      (ReplicaStatus.with { ($0.name, $0.leader) = ("one", true) }, "one, the leader"),
      (ReplicaStatus.with { ($0.name, $0.leaderName) = ("one", "two") }, "one; two leads"),
      (ReplicaStatus.with { $0.name = "one" }, "one; no replica leads now"),
    ])
  func replica(status: ReplicaStatus, expected: String) async throws {
    #expect(try await text("/status", .with { $0.replica = status }).contains(expected))
    #expect(try await !text("/status", GetStatusResponse()).contains("<dt>Replica</dt>"))
  }
}
