import AppStore
import HTTP
import JSON
import TestSupport
import Testing

@testable import Sandbox

/// Get Notification History.
@Suite("Notification history")
struct NotificationHistoryTests {
  private static let day: Int64 = 86_400_000
  private let store: AppStoreSimulator
  private let machine = TestClock(DemoWorld.start.advanced(byMilliseconds: 1000))

  init() throws {
    let machine = machine
    store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { machine.now }, poster: AcceptingPoster())
  }

  /// Calls the endpoint with the last 20 days and further members.
  private func history(_ members: JSONObject = [:], token: String? = nil) async throws -> JSONObject {
    let now = await store.world.now
    var body: JSONObject = [
      "startDate": JSONValue(now.advanced(byMilliseconds: -20 * Self.day)),
      "endDate": JSONValue(now.advanced(byMilliseconds: 1000)),
    ]
    for (name, value) in members { body[name] = value }
    let query = token.map { "?paginationToken=\($0)" } ?? ""
    let response = await store.respond(
      to: TestToken().request("POST", "/inApps/v1/notifications/history" + query, body, at: machine.now))
    return try #require(JSONValue(parsing: response.body).objectValue)
  }

  private func names(_ response: JSONObject) throws -> [String] {
    try payloads(response).map { payload in
      [payload["notificationType"], payload["subtype"]].compactMap { $0?.stringValue }.joined(separator: "/")
    }
  }

  private func payloads(_ response: JSONObject) throws -> [JSONObject] {
    try (response["notificationHistory"]?.arrayValue ?? []).map {
      try UnverifiedPayload.of(try #require($0.objectValue?["signedPayload"]?.stringValue))
    }
  }

  private func act(_ action: Action, _ members: JSONObject) async throws {
    var members = members
    if action.members.contains("app") { members["app"] = "demo" }
    _ = try await store.perform(action, Parameters(members))
  }

  private func start() async throws {
    try await act(.notificationURL, ["url": "http://service"])
  }

  private func buy(_ product: String, _ account: String) async throws -> String {
    try await store.purchase(PurchaseOrder(app: "demo", productId: product, account: account)).transactionId
  }

  private func deliver() async throws {
    try await store.advanceClock(to: await store.world.now.advanced(byMilliseconds: 1000))
  }

  // Apple: NotificationHistoryRequest: "valid combination"; InvalidNotificationTypeError, MultipleFiltersSuppliedError,
  // TransactionIdNotFoundError, InvalidTransactionIdError.
  @Test(
    "Invalid filters have Apple's errors",
    arguments: [
      (["notificationType": "DID_RENEW", "notificationSubtype": "BILLING_RECOVERY"], nil),
      (["notificationType": "DID_RENEW"], nil),
      (["notificationType": "DID_RENEW", "notificationSubtype": "VOLUNTARY"], 4_000_018),
      (["notificationType": "TEST", "notificationSubtype": "INITIAL_BUY"], 4_000_018),
      (["notificationType": "RENEWED"], 4_000_018),
      (["notificationSubtype": "VOLUNTARY"], 4_000_018),
      (["notificationType": "TEST", "transactionId": "1"], 4_000_019),
      (["transactionId": "x"], 4_000_006), (["transactionId": "999"], 4_040_010),
      (["startDate": "yesterday"], 4_000_015), (["endDate": "today"], 4_000_016),
    ] as [(JSONObject, Int64?)])
  func errors(members: JSONObject, code: Int64?) async throws {
    #expect(try await history(members)["errorCode"]?.int64Value == code)
  }

  // Apple: NotificationHistoryRequest: "180 days in the production environment, and the past 30 days in the sandbox".
  @Test(
    "The range is 30 days, and 180 with the rules of Production",
    arguments: [("SANDBOX", 30), ("PRODUCTION", 180)])
  func range(rules: JSONValue, days: Int64) async throws {
    try await act(.delivery, ["rules": rules])
    let now = machine.now
    func error(daysAgo: Int64) async throws -> Int64? {
      let start = JSONValue(now.advanced(byMilliseconds: -daysAgo * Self.day))
      return try await history(["startDate": start])["errorCode"]?.int64Value
    }
    #expect(try await error(daysAgo: days) == nil)
    #expect(try await error(daysAgo: days + 1) == 4_000_012)
  }

  // Apple: Get Notification History; InvalidPaginationTokenError, PaginationTokenExpiredError.
  @Test("Pages have 20 records; a token belongs to its request body and expires")
  func pages() async throws {
    try await start()
    for _ in 0..<25 { _ = try await buy("coins", "ann") }
    try await deliver()
    let first = try await history()
    #expect(try names(first).count == 20 && first["hasMore"] == true)
    let token = try #require(first["paginationToken"]?.stringValue)
    let second = try await history(token: token)
    #expect(try names(second).count == 5 && second["hasMore"] == false && second["paginationToken"] == nil)
    #expect(try await history(["onlyFailures": true], token: token)["errorCode"] == 4_000_014)
    #expect(try await history(token: "p_3")["errorCode"] == 4_000_014)
    _ = await store.respond(
      to: HTTPRequest(
        method: "POST", target: "/sandbox/v1/faults", body: Array(#"{"kind": "token-expired"}"#.utf8)))
    #expect(try await history(token: token)["errorCode"] == 4_000_017)
    #expect(try names(try await history(token: token)).count == 5)
    machine.advance(by: .seconds(25 * 3_600))
    #expect(try await history(token: token)["errorCode"] == 4_000_017)
  }

  // Apple: NotificationHistoryRequest: notifications are selected by their dates, startDate included and endDate excluded.
  @Test("Notifications are selected by the dates that they have, also by those that are ahead of the clock")
  func dates() async throws {
    try await start()
    // Two notifications of one instant about one purchase: the second date is a millisecond ahead.
    let id = try await buy("monthly", "ann")
    try await act(.refund, ["transactionId": .string(id)])
    try await deliver()
    try await store.advanceClock(to: await store.world.now.advanced(byMilliseconds: Self.day))
    _ = try await buy("coins", "ben")
    try await deliver()
    let dates = try payloads(try await history()).compactMap { $0["signedDate"]?.int64Value }
    try #require(dates.count == 3 && dates == dates.sorted())
    for date in dates.flatMap({ [$0 - 1, $0, $0 + 1] }) {
      let found = try payloads(try await history(["startDate": JSONValue(date)]))
      #expect(found.compactMap { $0["signedDate"]?.int64Value } == dates.filter { $0 >= date })
      let before = try payloads(try await history(["endDate": JSONValue(date)]))
      #expect(before.compactMap { $0["signedDate"]?.int64Value } == dates.filter { $0 < date })
    }
  }

  // Apple: NotificationHistoryRequest, transactionId: "of any transaction belonging to the customer".
  @Test("A transaction id selects all notifications of the customer")
  func customer() async throws {
    try await start()
    let coins = try await buy("coins", "ann")
    _ = try await buy("monthly", "ann")
    _ = try await buy("monthly", "ben")
    try await deliver()
    #expect(
      try names(try await history(["transactionId": .string(coins)])) == [
        "ONE_TIME_CHARGE", "SUBSCRIBED/INITIAL_BUY",
      ])
  }

  // Apple: Get Notification History: "the history records reflect the state of an in-app purchase at the time the App
  // Store originally sent the notification".
  @Test("A record has the state when the notification was first sent, and each attempt")
  func originalState() async throws {
    try await start()
    let id = try await buy("monthly", "ann")
    try await deliver()
    let sent = try payloads(try await history())
    try await act(.download, ["account": "ann", "version": "9.0"])
    try await act(.storefront, ["account": "ann", "storefront": "DEU"])
    try await act(
      .setAppAccountToken,
      ["transactionId": .string(id), "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138"])
    try await act(.refund, ["transactionId": .string(id)])
    try await deliver()
    let response = try await history()
    #expect(try names(response) == ["SUBSCRIBED/INITIAL_BUY", "REFUND"])
    let again = try #require(try payloads(response).first)
    for document in ["signedTransactionInfo", "signedRenewalInfo"] {
      let payloads = try [sent[0], again].map {
        try UnverifiedPayload.of(try #require($0["data"]?.objectValue?[document]?.stringValue))
      }
      #expect(payloads[0] == payloads[1])
    }
    #expect(again["data"]?.objectValue?["bundleVersion"] == sent[0]["data"]?.objectValue?["bundleVersion"])
    let attempts = response["notificationHistory"]?.arrayValue?.first?.objectValue?["sendAttempts"]?
      .arrayValue
    #expect(attempts?.compactMap { $0.objectValue?["sendAttemptResult"] } == ["SUCCESS"])
  }

  @Test("The history has no version 1 notifications")
  func version1() async throws {
    try await act(.notificationURL, ["url": "http://service", "version": 1])
    _ = try await buy("monthly", "ann")
    try await deliver()
    #expect(await store.world.notifications.count == 1)
    #expect(try names(try await history()).isEmpty)
  }
}

/// Accepts every notification.
private struct AcceptingPoster: NotificationPoster {
  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    ReceiverResponse(result: .success)
  }
}
