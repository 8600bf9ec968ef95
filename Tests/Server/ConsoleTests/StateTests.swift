import HTTP
import RPC
import Testing
import Wire

@testable import Console
@testable import Services

/// The state of the service on the pages.
@Suite struct StateTests {
  private func text(_ target: String, _ status: GetStatusResponse, _ webhooks: [Webhook] = []) async throws
    -> String
  {
    String(decoding: try await console(status, webhooks).get(target).body, as: UTF8.self)
  }

  private func console(_ status: GetStatusResponse, _ webhooks: [Webhook] = []) async throws
    -> SignedInConsole
  {
    try await SignedInConsole([
      .asyncUnary(Calls.getStatus.path) {
        (_: GetStatusRequest, _) async throws(Status) -> GetStatusResponse in status
      },
      .asyncUnary(Calls.listWebhooks.path) {
        (_: ListWebhooksRequest, _) async throws(Status) -> ListWebhooksResponse in
        .with { $0.webhooks = webhooks }
      },
    ])
  }

  @Test("The first page is the customers of the only app in its first environment, or the list of apps")
  func start() async throws {
    func start(_ apps: [String]) async throws -> HTTPResponse {
      let status = GetStatusResponse.with {
        $0.apps = apps.flatMap { app in
          [Wire.Environment.sandbox, .production].map { environment in
            AppStatus.with { ($0.app, $0.environment) = (app, environment) }
          }
        }
      }
      return try await console(status).get("/")
    }
    let only = try await start(["ocean"])
    #expect(only.status == 303 && only.headers["location"] == "/a/ocean/sandbox/segments")
    for apps in [["ocean", "river"], []] {
      let page = try await start(apps)
      let text = String(decoding: page.body, as: UTF8.self)
      #expect(page.status == 200 && text.contains("id=\"home-find\""))
      #expect(apps.allSatisfy { text.contains("/a/\($0)/production/segments") })
    }
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

  @Test("Certificates are warned about two weeks before their end, with access to the store only")
  func certificates() async throws {
    let now: Int64 = 1_800_000_000
    let status = GetStatusResponse.with {
      $0.store = StoreStatus()
      $0.certificates = [(-1, "over"), (13 * 86_400, "soon"), (15 * 86_400, "later")].map { seconds, use in
        .with {
          $0.use = use
          $0.endsAt = .with { $0.seconds = now + seconds }
        }
      }
    }
    let page = try await text("/status", status)
    let rows = try #require(page.firstRange(of: "Certificates</h2>").map { page[$0.upperBound...] })
      .split(separator: "<tr>").dropFirst(2).prefix(3).map(String.init)
    #expect(rows.map { $0.contains("chip none\">✕ over") } == [true, false, false])
    #expect(rows.map { $0.contains("chip grace\">13 days left.") } == [false, true, false])
    #expect(rows.map { $0.contains("chip full\">15 days left.") } == [false, false, true])
    #expect(try await !text("/status", GetStatusResponse()).contains("Certificates</h2>"))
    #expect(
      try await text("/status", .with { $0.store = StoreStatus() }).contains("No listener has TLS"))
  }

  @Test("The numbers of the status page and of the first page lead to what they count")
  func links() async throws {
    let status = GetStatusResponse.with {
      $0.store = StoreStatus()
      $0.apps = [
        .with {
          ($0.app, $0.environment) = ("ocean", .sandbox)
          ($0.openConsumptionRequests, $0.lastSequence) = (2, 7)
        }
      ]
    }
    let page = try await text("/status", status, [.with { ($0.name, $0.deadLetters) = ("billing", 3) }])
    #expect(page.contains("<a href=\"/a/ocean/sandbox/work/refunds\">2</a>"))
    #expect(page.contains("<a href=\"/a/ocean/sandbox/work/dead-letters\">3</a>"))
    #expect(page.contains("<a href=\"/a/ocean/sandbox/events/7\""))
    #expect(!page.contains(" free"), "the free space is not known")
    let first = try await text("/apps", status)
    #expect(
      first.contains(
        "<a href=\"/a/ocean/sandbox/work/refunds\"><span class=\"chip grace\">2 open</span></a>"))
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

  @Test("The status page has the lag of each replica, and warns from a second on")
  func replicas() async throws {
    let lags: [(name: String, behind: Int64, milliseconds: Int64)] = [
      ("a", 0, 0), ("b", 2, 999), ("<c>", 7, 61_000),
    ]
    let status = ReplicaStatus.with {
      ($0.name, $0.leaderName) = ("b", "a")
      $0.replicas = lags.map { replica in
        ReplicaLag.with {
          ($0.name, $0.version, $0.commitsBehind) = (replica.name, "1.2.3", replica.behind)
          $0.lag = .with {
            $0.seconds = replica.milliseconds / 1_000
            $0.nanos = Int32(replica.milliseconds % 1_000) * 1_000_000
          }
        }
      }
    }
    let page = try await text("/status", .with { $0.replica = status })
    let table = try #require(page.firstRange(of: "<h2>Replicas</h2>").map { page[$0.upperBound...] })
    let rows = table.split(separator: "<tr>").dropFirst(2).prefix(3).map(String.init)
    #expect(rows.map { $0.contains("chip full\">leads") } == [true, false, false])
    #expect(rows[0].contains(">0 ms<") && rows[1].contains(">999 ms<") && !rows[1].contains("chip grace"))
    #expect(
      rows[2].contains("&lt;c&gt;") && rows[2].contains("chip grace\">61 s<") && rows[2].contains(">7<"))
    #expect(try await !text("/status", GetStatusResponse()).contains("<h2>Replicas</h2>"))
    let unread = try await text("/status", .with { $0.replica = .with { $0.name = "b" } })
    #expect(unread.contains("The database does not report now which replicas"))
  }
}
