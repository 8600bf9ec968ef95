import RPC
import Testing
import Wire

@testable import Console
@testable import Services

/// The rows of the audit page, from entries that the suite makes up.
@Suite struct AuditTests {
  private func entry(
    _ method: String, _ customers: [String], request: String = "r1", outcome: String = "OK",
    actor: String = "lena"
  ) -> AuditEntry {
    .with {
      ($0.method, $0.customerIds, $0.requestId) = ("/entitled.v1.\(method)", customers, request)
      ($0.outcome, $0.caller, $0.actor, $0.app) = (outcome, "console", actor, "ocean")
    }
  }

  private func rows(_ entries: [AuditEntry]) async throws -> [String] {
    let method = Method.asyncUnary(Calls.listAuditEntries.path) {
      (_: ListAuditEntriesRequest, _) async throws(Status) -> ListAuditEntriesResponse in
      .with { $0.entries = entries }
    }
    let response = try await SignedInConsole([method]).get("/audit")
    #expect(response.status == 200)
    let page = String(decoding: response.body, as: UTF8.self)
    return page.split(separator: "<tr>").dropFirst(2).map { String($0) }
  }

  @Test("The calls of one look are one row, also if those of another one are between them")
  func looks() async throws {
    let rows = try await rows([
      entry("CustomerService/ListNotes", ["ada"]),
      entry("EntitlementService/GetCustomer", ["ben"], request: "r2"),
      entry("EntitlementService/GetProbableFamily", ["ada", "ben"]),
      entry("EntitlementService/GetCustomer", ["ada"]),
    ])
    try #require(rows.count == 2)
    #expect(rows[0].contains("Looked at <bdi>ada</bdi> <span class=\"quiet\">3 calls</span></summary>"))
    #expect(rows[0].contains("<code>GetProbableFamily</code> <bdi>ada, ben</bdi>"))
    #expect(!rows[1].contains("<details>") && rows[1].contains("<code>GetCustomer</code>"))
  }

  @Test("Changes, calls without an id and calls of another person are not grouped")
  func others() async throws {
    let rows = try await rows([
      entry("EntitlementService/Grant", ["ada"]), entry("EntitlementService/GetCustomer", ["ada"]),
      entry("EntitlementService/GetCustomer", ["ada"], actor: "otto"),
      entry("EntitlementService/GetCustomer", ["ada"], request: ""),
      entry("CustomerService/ListNotes", ["ada"], request: ""),
    ])
    #expect(rows.count == 5 && rows.allSatisfy { !$0.contains("<details>") })
  }

  @Test("An HTTP route is shown as it is")
  func route() async throws {
    var read = entry("", ["ada"])
    read.method = "GET /v1/subscribers/{customer}"
    let rows = try await rows([read])
    #expect(rows.first?.contains("<code>GET /v1/subscribers/{customer}</code>") == true)
  }

  @Test("A look at many customers has their number; one that failed has the outcome of the call")
  func many() async throws {
    let customers = (1...12).map { "customer-\($0)" }
    let rows = try await rows([
      entry("AppStoreService/ListConsumptionRequests", Array(customers.prefix(6))),
      entry("CustomerService/ListContradictions", Array(customers.suffix(6)), outcome: "UNAVAILABLE"),
      entry("CustomerService/FindCustomers", [], request: "r2"),
      entry("CustomerService/FindCustomers", [], request: "r2"),
    ])
    try #require(rows.count == 2)
    #expect(rows[0].contains("Looked at <bdi>customer-1, customer-2, customer-3</bdi> and 9 more <span"))
    #expect(rows[0].contains("<bdi>customer-10</bdi></a> and 2 more"))
    #expect(rows[0].contains("<span class=\"chip none\">UNAVAILABLE</span></td>"))
    #expect(rows[1].contains("Looked, and saw no customer"))
  }
}
