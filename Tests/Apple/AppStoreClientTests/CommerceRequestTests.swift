import AppStore
import JSON
import Testing

@testable import AppStoreClient

/// The calls that Apple documents and its libraries do not have: method, path and rate limit.
@Suite struct CommerceRequestTests {
  @Test("Advanced Commerce requests are POSTs with the limits that Apple documents")
  func advancedCommerce() throws {
    let body: JSONObject = ["requestInfo": ["requestReferenceId": "R"]]
    let requests: [(AppStoreRequest, String, Double)] = [
      (try .cancel(body, of: "1"), "subscription/cancel", 5),
      (try .revoke(body, of: "1"), "subscription/revoke", 5),
      (try .requestRefund(body, of: "1"), "transaction/requestRefund", 5),
      (try .migrate(body, of: "1"), "subscription/migrate", 50),
      (try .changePrice(body, of: "1"), "subscription/changePrice", 50),
      (try .changeMetadata(body, of: "1"), "subscription/changeMetadata", 50),
    ]
    for (request, path, limit) in requests {
      #expect(request.method == .post && request.target == "/advancedCommerce/v1/\(path)/1")
      #expect(request.endpoint.callsPerSecond == limit)
      #expect(request.body == .json(body))
    }
  }

  @Test("Groups, seats and external purchase reports have the paths that Apple documents")
  func paths() {
    #expect(AppStoreRequest.customerGroups(of: "1").target == "/groups/v1/currentGroups/1")
    #expect(
      AppStoreRequest.groupMembers(of: "9", limit: 100, paginationToken: "t").target
        == "/groups/v1/group/9?limit=100&paginationToken=t")
    #expect(AppStoreRequest.seats(of: "1").target == "/groups/v1/transactions/1/seats")
    let report = AppStoreRequest.sendExternalPurchaseReport(["status": "NO_LINE_ITEM"])
    #expect(report.method == .put && report.target == "/externalPurchase/v1/reports")
    #expect(
      AppStoreRequest.externalPurchaseReport(requestIdentifier: "R").target
        == "/externalPurchase/v1/reports/R")
  }

  @Test("Default retention messages have a higher limit than the other calls about messages")
  func retentionLimits() {
    let setting = AppStoreRequest.setDefaultMessage("M", ofProduct: "p", locale: "en-US")
    #expect(setting.endpoint.callsPerSecond == 10)
    #expect(AppStoreRequest.messageList.endpoint.callsPerSecond == 1)
    #expect(AppStoreRequest.setAppAccountToken("T", of: "1").endpoint.callsPerSecond == 20)
  }
}
