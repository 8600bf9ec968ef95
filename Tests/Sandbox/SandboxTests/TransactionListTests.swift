import AppStore
import HTTP
import JSON
import Testing

@testable import Sandbox

/// The lists of a customer's transactions in Apple's Server API.
@Suite final class TransactionListTests {
  private let store: AppStoreSimulator

  init() throws {
    store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start.advanced(byMilliseconds: 1000) })
  }

  private func call(_ path: String) async throws -> JSONObject {
    let response = await store.respond(to: TestToken().request("GET", path, at: DemoWorld.start))
    return try #require(JSONValue(parsing: response.body).objectValue)
  }

  private func buy(_ product: String, _ account: String = "ann") async throws -> String {
    try await store.purchase(PurchaseOrder(app: "demo", productId: product, account: account)).transactionId
  }

  private func act(_ action: Action, _ members: JSONObject) async throws {
    _ = try await store.perform(action, Parameters(members))
  }

  private func ids(_ response: JSONObject) throws -> [String] {
    try (response["signedTransactions"]?.arrayValue ?? []).compactMap(\.stringValue).compactMap {
      try UnverifiedPayload.of($0)["transactionId"]?.stringValue
    }
  }

  // Apple: HistoryResponse, Get Transaction History V1.
  @Test("A finished consumable stays in version 2 of the history, and in version 1 only if it is refunded")
  func finishedConsumables() async throws {
    let (finished, refunded) = (try await buy("coins"), try await buy("coins"))
    for id in [finished, refunded] { try await act(.finish, ["transactionId": .string(id)]) }
    try await act(.refund, ["transactionId": .string(refunded)])
    #expect(try await ids(call("/inApps/v2/history/\(finished)")) == [finished, refunded])
    #expect(try await ids(call("/inApps/v1/history/\(finished)")) == [refunded])
  }

  // Apple: RefundHistoryResponse: "Consider storing the revision token from the last page of results".
  @Test("The revision of an empty refund history returns the refunds since")
  func revisionOfNothing() async throws {
    let id = try await buy("unlock")
    let nothing = try await call("/inApps/v2/refund/lookup/\(id)")
    #expect(try ids(nothing).isEmpty && nothing["hasMore"] == false)
    let revision = try #require(nothing["revision"]?.stringValue)
    try await act(.refund, ["transactionId": .string(id)])
    #expect(try await ids(call("/inApps/v2/refund/lookup/\(id)?revision=\(revision)")) == [id])
  }

  // Apple: Get Refund History V1, RefundLookupResponse.
  @Test("Version 1 of the refund history has the latest 50 refunds, and no pages")
  func firstVersionOfRefunds() async throws {
    var bought: [String] = []
    for _ in 0..<52 {
      bought.append(try await buy("coins"))
      try await act(.refund, ["transactionId": .string(bought[bought.count - 1])])
    }
    let response = try await call("/inApps/v1/refund/lookup/\(bought[0])")
    #expect(try ids(response) == bought.suffix(50) && response.map(\.name) == ["signedTransactions"])
    #expect(try await ids(call("/inApps/v2/refund/lookup/\(bought[0])")).count == 20)
    #expect(try await call("/inApps/v1/refund/lookup/77")["errorCode"] == 4_040_005)
    #expect(try await call("/inApps/v1/refund/lookup/x")["errorCode"] == 4_000_008)
  }

  // Apple: Get Refund History: "only includes App Store-approved refunds".
  @Test("The refund history has no purchase that only ceased to be shared")
  func endOfSharing() async throws {
    try await act(.shareable, ["app": "demo", "productId": "unlock"])
    _ = try await buy("unlock")
    for name in ["ann", "bob"] { try await act(.joinFamily, ["account": .string(name), "family": "f"]) }
    let own = try await buy("coins", "bob")
    try await act(.leaveFamily, ["account": "bob"])
    #expect(try await ids(call("/inApps/v2/history/\(own)?revoked=true")).count == 1)
    #expect(try await ids(call("/inApps/v2/refund/lookup/\(own)")).isEmpty)
    try await act(.refund, ["transactionId": .string(own)])
    #expect(try await ids(call("/inApps/v2/refund/lookup/\(own)")) == [own])
  }

  @Test("The revision of a refund that was reversed returns the refunds since, also of one instant")
  func revisionOfReversedRefund() async throws {
    let (later, reversed) = (try await buy("coins"), try await buy("coins"))
    let path = "/inApps/v2/refund/lookup/\(later)"
    try await act(.refund, ["transactionId": .string(reversed)])
    let first = try await call(path)
    #expect(try ids(first) == [reversed])
    let revision = try #require(first["revision"]?.stringValue)
    try await act(.reverseRefund, ["transactionId": .string(reversed)])
    #expect(try await ids(call("\(path)?revision=\(revision)")).isEmpty)
    try await act(.refund, ["transactionId": .string(later)])
    #expect(try await ids(call("\(path)?revision=\(revision)")) == [later])
    #expect(try await call("\(path)?revision=r_1_2_3")["errorCode"] == 4_000_005)
  }
}
