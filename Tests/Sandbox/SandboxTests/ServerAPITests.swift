import AppStore
import Foundation
import HTTP
import JSON
import SignedData
import Testing

@testable import Sandbox

/// The limits and errors of Apple's Server API.
@Suite final class ServerAPITests {
  private static let start = Instant(rfc3339: "2026-01-01T00:00:00Z")!
  private let store: AppStoreSimulator

  init() throws {
    store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { Self.start.advanced(byMilliseconds: 1000) })
  }

  /// Calls the API. While no key is registered, the signature of the token is not checked.
  private func call(
    _ method: String, _ path: String, _ body: JSONObject = [:], lifetime: Int64? = 300
  ) async throws -> (status: Int, body: JSONObject) {
    let now = Self.start.millisecondsSince1970 / 1000
    var claims: JSONObject = [
      "iss": "i", "aud": "appstoreconnect-v1", "bid": "com.example",
      "exp": JSONValue(now + (lifetime ?? 300)),
    ]
    if lifetime != nil { claims["iat"] = JSONValue(now) }
    let header: JSONObject = ["alg": "ES256", "kid": "K", "typ": "JWT"]
    let parts = [header.serialized(), claims.serialized(), [UInt8](repeating: 0, count: 64)]
    let token = parts.map { Data($0).base64EncodedString() }.joined(separator: ".")
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    let response = await store.respond(
      to: HTTPRequest(
        method: method, target: path, headers: HeaderFields([("authorization", "Bearer \(token)")]),
        body: body.serialized()))
    return (response.status, (try? JSONValue(parsing: response.body).objectValue) ?? [:])
  }

  private func errorCode(_ method: String, _ path: String, _ body: JSONObject) async throws -> Int64? {
    try await call(method, path, body).body["errorCode"]?.int64Value
  }

  private func buy(_ product: String, _ account: String, seats: Int64? = nil) async throws -> String {
    try await store.purchase(
      PurchaseOrder(app: "demo", productId: product, account: account, seats: seats)
    ).transactionId
  }

  // Apple: "Generating JSON Web Tokens for API requests". Apple's Python library sends no `iat`.
  @Test(
    "A token is valid for at most 60 minutes",
    arguments: [(300, 200), (3600, 200), (3601, 401), (nil, 200)] as [(Int64?, Int)])
  func tokenLifetime(lifetime: Int64?, status: Int) async throws {
    let id = try await buy("unlock", "ann")
    let path = "/inApps/v1/transactions/\(id)"
    #expect(try await call("GET", path, lifetime: lifetime).status == status)
  }

  // Apple: AppTransactionIdNotSupportedError.
  @Test("A call about one transaction rejects an appTransactionId, one about a customer accepts it")
  func appTransactionIDs() async throws {
    _ = try await buy("unlock", "ann")
    let id = appTransactionID(app: "demo", account: "ann")
    let token: JSONObject = ["appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138"]
    #expect(try await errorCode("GET", "/inApps/v1/transactions/\(id)", [:]) == 4_000_048)
    #expect(
      try await errorCode("PUT", "/inApps/v1/transactions/\(id)/appAccountToken", token) == 4_000_048)
    #expect(try await call("GET", "/inApps/v2/history/\(id)").status == 200)
  }

  // Apple: the response codes of Get Transaction Info, Set App Account Token and Get Notification History.
  @Test("An unknown transaction id has the error of the call")
  func unknownIDs() async throws {
    _ = try await buy("unlock", "ann")
    let token: JSONObject = ["appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138"]
    #expect(try await errorCode("GET", "/inApps/v1/transactions/999", [:]) == 4_040_010)
    #expect(try await errorCode("PUT", "/inApps/v1/transactions/999/appAccountToken", token) == 4_040_005)
    #expect(try await errorCode("PUT", "/inApps/v1/transactions/x/appAccountToken", token) == 4_000_006)
    let now = Self.start.millisecondsSince1970
    let request: JSONObject = [
      "startDate": JSONValue(now - 1000), "endDate": JSONValue(now),
      "transactionId": .string(appTransactionID(app: "demo", account: "ann")),
    ]
    #expect(try await errorCode("POST", "/inApps/v1/notifications/history", request) == 4_040_010)
  }

  // Apple: Request a Test Notification, ServerNotificationURLNotFoundError.
  @Test("A test notification can be requested for a URL of each version, and for none without a URL")
  func testNotification() async throws {
    let path = "/inApps/v1/notifications/test"
    #expect(try await errorCode("POST", path, [:]) == 4_040_007)
    for version in [1, 2] as [JSONValue] {
      let target: JSONObject = ["app": "demo", "url": "http://127.0.0.1:9/", "version": version]
      _ = try await store.perform(.notificationURL, Parameters(target))
      #expect(try await call("POST", path).body["testNotificationToken"]?.stringValue != nil)
    }
  }

  // Apple: "Generating JSON Web Tokens for API requests".
  @Test(
    "A token with a wrong header or claim is rejected",
    arguments: [
      (["alg": "HS256"], [:]), (["kid": .null], [:]), (["kid": ""], [:]),
      ([:], ["aud": "appstoreconnect-v2"]),
      ([:], ["aud": .null]), ([:], ["bid": "com.example.other"]), ([:], ["bid": .null]),
      ([:], ["iss": .null]),
      ([:], ["exp": .null]), ([:], ["exp": 1]), ([:], ["iat": 4_000_000_000]),
    ] as [(JSONObject, JSONObject)])
  func wrongToken(header: JSONObject, claims: JSONObject) async throws {
    let path = "/inApps/v1/transactions/\(try await buy("unlock", "ann"))"
    let now = Self.start.advanced(byMilliseconds: 1000)
    #expect(await store.respond(to: TestToken().request("GET", path, at: now)).status == 200)
    let token = TestToken(changedHeader: header, changedClaims: claims)
    #expect(await store.respond(to: token.request("GET", path, at: now)).status == 401)
  }

  // Apple documents `iat` as required; the default follows Apple's Java and Python libraries.
  @Test("On demand a token without iat is rejected, without a JSON error")
  func documentedTokens() async throws {
    let path = "/inApps/v1/transactions/\(try await buy("unlock", "ann"))"
    _ = try await store.perform(.serverTokens, Parameters(["asDocumented": true]))
    let rejected = try await call("GET", path, lifetime: nil)
    #expect(rejected.status == 401 && rejected.body.isEmpty)
    #expect(try await call("GET", path).status == 200)
  }

  // Apple: StatusResponse, HistoryResponse: "available only for apps in production".
  @Test("Responses contain no appAppleId in Sandbox")
  func appAppleId() async throws {
    let id = try await buy("monthly", "ann")
    for path in ["/inApps/v1/subscriptions/\(id)", "/inApps/v2/history/\(id)"] {
      let response = try await call("GET", path)
      #expect(response.status == 200 && response.body["bundleId"] == "com.example")
      #expect(response.body["appAppleId"] == nil)
    }
  }

  // Apple: Get Transaction History, revision.
  @Test("A revision returns new transactions and those that changed since")
  func historyRevision() async throws {
    func history(_ id: String, _ query: String) async throws -> (products: [String?], revision: String) {
      let body = try await call("GET", "/inApps/v2/history/\(id)?\(query)").body
      let payloads = try body["signedTransactions"]?.arrayValue?.compactMap(\.stringValue).map {
        try UnverifiedJWS($0).payload
      }
      #expect(body["hasMore"] == false)
      return (
        payloads?.map { $0["productId"]?.stringValue } ?? [], try #require(body["revision"]?.stringValue)
      )
    }
    let id = try await buy("unlock", "ann")
    _ = try await buy("coins", "ann")
    let first = try await history(id, "sort=ASCENDING")
    #expect(first.products == ["unlock", "coins"])
    let nothing = try await history(id, "sort=ASCENDING&revision=\(first.revision)")
    #expect(nothing.products.isEmpty && nothing.revision == first.revision)
    _ = try await buy("season", "ann")
    _ = try await store.perform(.refund, Parameters(["transactionId": .string(id)]))
    #expect(try await history(id, "revision=\(first.revision)").products == ["season", "unlock"])
    #expect(try await history(id, "sort=DESCENDING").products == ["unlock", "season", "coins"])
  }

  // Apple: storefrontCountryCodes, InvalidEmptyStorefrontCountryCodeListError, InvalidStorefrontCountryCodeError.
  @Test("A mass extension rejects empty and unknown storefronts")
  func massExtension() async throws {
    for (codes, code) in [([], 4_000_027), (["XXX"], 4_000_028), (["DEU"], nil)] as [(JSONValue, Int64?)] {
      let body: JSONObject = [
        "extendByDays": 3, "extendReasonCode": 1, "productId": "monthly", "requestIdentifier": "R",
        "storefrontCountryCodes": codes,
      ]
      #expect(try await errorCode("POST", "/inApps/v1/subscriptions/extend/mass", body) == code)
    }
  }

  // Apple: "Extending the renewal date for auto-renewable subscriptions", Get Status of Subscription Renewal Date
  // Extensions.
  @Test("A mass extension that takes time is not complete before it ends")
  func massExtensionTime() async throws {
    _ = try await buy("monthly", "ann")
    _ = try await store.perform(.extensionTime, Parameters(["app": "demo", "by": "6h"]))
    let path = "/inApps/v1/subscriptions/extend/mass"
    let body: JSONObject = [
      "extendByDays": 3, "extendReasonCode": 1, "productId": "monthly", "requestIdentifier": "R",
    ]
    _ = try await call("POST", path, body)
    func status() async throws -> JSONObject { try await call("GET", "\(path)/monthly/R").body }
    let pending = try await status()
    #expect(pending["complete"] == false && pending["succeededCount"] == nil)
    let end = try #require(await store.world.lines.values.first).expiresDate
    try await store.advanceClock(by: 6 * 3_600_000, concurrency: 1)
    let complete = try await status()
    #expect(complete["complete"] == true && complete["succeededCount"] == 1)
    let extended = try #require(await store.world.lines.values.first).expiresDate
    #expect(extended == end.advanced(byMilliseconds: 259_200_000))
    let last = await store.world.notifications.last
    #expect(last?.name == "RENEWAL_EXTENSION/SUMMARY")
  }

  @Test("A mass extension is performed although one of another product has used its identifier")
  func massExtensionsOfTwoProducts() async throws {
    let path = "/inApps/v1/subscriptions/extend/mass"
    for product in ["monthly", "weekly", "weekly"] {
      let body: JSONObject = [
        "extendByDays": 3, "extendReasonCode": 1, "productId": .string(product), "requestIdentifier": "R",
      ]
      #expect(try await call("POST", path, body).status == 200)
      #expect(try await call("GET", "\(path)/\(product)/R").body["complete"] == true)
    }
    #expect(await store.world.massExtensions.map(\.productID) == ["monthly", "weekly"])
  }

  @Test("A mass extension is performed although another app has used its identifier")
  func massExtensionsOfTwoApps() async throws {
    let other = SandboxApp(
      id: "other", identity: AppIdentity(bundleID: "com.other", appAppleID: nil),
      products: DemoWorld.app.products)
    let store = try AppStoreSimulator(
      apps: [DemoWorld.app, other], storage: .memory, now: { Self.start.advanced(byMilliseconds: 1000) })
    let path = "/inApps/v1/subscriptions/extend/mass"
    let body: JSONObject = [
      "extendByDays": 3, "extendReasonCode": 1, "productId": "monthly", "requestIdentifier": "R",
    ]
    for bundle in ["com.example", "com.other"] {
      let token = TestToken(changedClaims: ["bid": .string(bundle)])
      let accepted = await store.respond(to: token.request("POST", path, body, at: Self.start))
      #expect(accepted.status == 200)
      let status = await store.respond(to: token.request("GET", "\(path)/monthly/R", at: Self.start))
      #expect(status.status == 200)
    }
  }

  /// Returns the one group of the customer with a transaction (Apple: Get Customer Groups, groupType, role).
  private func group(of id: String) async throws -> GroupEntry {
    let body = try await call("GET", "/groups/v1/currentGroups/\(id)").body
    let groups = try GetCustomerGroupsResponse(json: body).groups ?? []
    #expect(groups.count == 1)
    return try #require(groups.first)
  }

  // Apple: Get Group Members.
  @Test("The members of a group of subscribers share it and have no roles; a refund ends it")
  func subscriberGroups() async throws {
    let team = try await buy("gold", "team", seats: 2)
    _ = try await store.perform(.assignSeat, Parameters(["transactionId": .string(team), "account": "ben"]))
    let consumer = try await group(of: team)
    #expect(consumer.groupType == .consumer && consumer.roles == nil)
    let assigned = try #require(await store.world.subscriptions(of: "ben", in: "demo").first).id
    #expect(try await group(of: String(assigned)).groupId == consumer.groupId)
    let path = "/groups/v1/group/\(consumer.groupId ?? "")"
    let members = try await call("GET", path).body
    #expect(
      try GetGroupMembersResponse(json: members).members?.map(\.appTransactionId)
        == ["team", "ben"].map { appTransactionID(app: "demo", account: $0) })
    #expect(try await errorCode("GET", "\(path)?limit=101", [:]) == 4_000_004)
    _ = try await store.perform(.refund, Parameters(["transactionId": .string(team)]))
    #expect(try await errorCode("GET", path, [:]) == 4_040_022)
    #expect(try await errorCode("GET", "/groups/v1/group/12", [:]) == 4_000_225)
  }

  @Test("The purchaser of an organization is the administrator of its product")
  func organizationGroups() async throws {
    var order = PurchaseOrder(app: "demo", productId: "news", account: "school", seats: 30)
    order.isOrganization = true
    let school = try await store.purchase(order).transactionId
    let organization = try await group(of: school)
    #expect(organization.groupType == .organization)
    #expect(organization.roles?.map(\.role) == [.admin] && organization.roles?.first?.productId == "news")
  }

  @Test("A purchase without a group gets the placeholder, with a role for each subscription")
  func placeholderGroup() async throws {
    let placeholder = try await group(of: try await buy("unlock", "single"))
    #expect(placeholder.groupId == "900000000000000000" && placeholder.groupType == .organization)
    let subscriptions = DemoWorld.app.products.filter { $0.type == .autoRenewableSubscription }
    #expect(placeholder.roles?.map(\.productId) == subscriptions.map(\.productId))
    #expect(placeholder.roles?.count { $0.role == .admin } == 1 && placeholder.roles?.first?.role == .admin)
  }

  @Test("With purchaserNeedsSeat the Server API offers one seat fewer to claim")
  func purchaserNeedsSeat() async throws {
    for (action, members) in [
      (.invitations, ["app": "demo", "productId": "news", "management": "DEVELOPER"]),
      (.sharingRules, ["app": "demo", "purchaserNeedsSeat": true]),
    ] as [(Action, JSONObject)] {
      _ = try await store.perform(action, Parameters(members))
    }
    let seats = "/groups/v1/transactions/\(try await buy("news", "crew", seats: 2))/seats"
    func body(_ method: String, _ request: JSONObject = [:]) async throws -> JSONObject {
      try await call(method, seats, request).body
    }
    #expect(try await body("GET")["totalSeatCount"] == 2)
    #expect(try await body("GET")["availableSeatCount"] == 1)
    #expect(try await body("POST", ["requestIdentifier": "R"])["seatClaimId"] != nil)
    #expect(
      try await body("POST", ["requestIdentifier": "S"])["errorMessage"] == "NoAvailableSeatsError")
  }

  // Apple documents the four errors without numbers.
  @Test("Seat endpoints name the error for unknown seats, unknown customers and purchases without claims")
  func seatErrors() async throws {
    let apple = try await buy("gold", "team", seats: 2)
    _ = try await store.perform(
      .invitations, Parameters(["app": "demo", "productId": "news", "management": "DEVELOPER"]))
    let crew = try await buy("news", "crew", seats: 1)
    let seats = "/groups/v1/transactions/\(crew)/seats"
    func error(_ method: String, _ path: String, _ body: JSONObject = [:]) async throws -> String? {
      try await call(method, path, body).body["errorMessage"]?.stringValue
    }
    #expect(
      try await error("GET", "/groups/v1/transactions/\(apple)/seats") == "TransactionNotDevManagedGroupError"
    )
    #expect(
      try await error("POST", seats, ["requestIdentifier": "R", "appTransactionId": "7"])
        == "AppTransactionIdNotFoundError")
    #expect(try await error("DELETE", "\(seats)/none") == "SeatClaimIdNotFoundError")
    #expect(
      try await error("POST", "\(seats)/none/associate", ["appTransactionId": "7"])
        == "SeatClaimIdNotFoundError")
    #expect(try await error("POST", seats, ["requestIdentifier": "R"]) == nil)
    #expect(try await error("POST", seats, ["requestIdentifier": "S"]) == "NoAvailableSeatsError")
  }

  // Apple: consumptionPercentage, refundPreference.
  @Test("Consumption information is validated by product type, delivery and preferred outcome")
  func consumptionPercentage() async throws {
    let (subscription, coins) = (try await buy("gold", "ann"), try await buy("coins", "ann"))
    func code(_ id: String, _ members: JSONObject) async throws -> Int64? {
      var body: JSONObject = [
        "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED",
      ]
      for (name, value) in members { body[name] = value }
      let path = "/inApps/v2/transactions/consumption/"
      guard try await call("PUT", path + id, body).status != 202 else { return nil }
      return try await errorCode("PUT", path + id, body)
    }
    #expect(try await code(subscription, ["consumptionPercentage": 50_000]) == 4_000_209)
    #expect(try await code(subscription, ["refundPreference": "GRANT_PRORATED"]) == nil)
    #expect(try await code(coins, ["refundPreference": "GRANT"]) == 4_000_044)
    for percentage in [0, 50_000, 100_000] as [Int64] {
      #expect(try await code(coins, ["consumptionPercentage": JSONValue(percentage)]) == nil)
    }
    for percentage in [0, 100_000] as [Int64] {
      let prorated: JSONObject = [
        "consumptionPercentage": JSONValue(percentage), "refundPreference": "GRANT_PRORATED",
      ]
      #expect(try await code(coins, prorated) == 4_000_000)
    }
    let undelivered: JSONObject = ["consumptionPercentage": 1, "deliveryStatus": "UNDELIVERED_OTHER"]
    #expect(try await code(coins, undelivered) == 4_000_000)
  }

  // Apple: Send Consumption Information V1, InvalidTransactionTypeNotSupportedError, InvalidRefundPreferenceError.
  @Test("Version 1 of consumption information is for consumables and auto-renewable subscriptions only")
  func consumptionOfVersion1() async throws {
    func code(_ product: String, _ preference: JSONValue?) async throws -> Int64? {
      var body: JSONObject = [
        "customerConsented": true, "sampleContentProvided": false, "appAccountToken": "",
      ]
      for name in [
        "accountTenure", "consumptionStatus", "deliveryStatus", "lifetimeDollarsPurchased",
        "lifetimeDollarsRefunded", "platform", "playTime", "userStatus",
      ] {
        body[name] = 0
      }
      body["refundPreference"] = preference
      let path = "/inApps/v1/transactions/consumption/\(try await buy(product, "ann"))"
      return try await errorCode("PUT", path, body)
    }
    for product in ["coins", "gold"] {
      #expect(try await code(product, nil) == nil)
      #expect(try await code(product, 3) == nil)
      #expect(try await code(product, 4) == 4_000_044)
    }
    for product in ["unlock", "season"] { #expect(try await code(product, nil) == 4_000_047) }
  }

  // Apple: Send Consumption Information V1 ("202 Accepted"), InvalidAssignedTransactionNotSupportedError,
  // AssignedSubscriptionExtensionIneligibleError.
  @Test("Consumption information returns 202, and calls about an assigned seat are rejected")
  func assignedSeats() async throws {
    let team = try await buy("gold", "team", seats: 2)
    _ = try await store.perform(.assignSeat, Parameters(["transactionId": .string(team), "account": "ben"]))
    let assigned = try #require(await store.world.subscriptions(of: "ben", in: "demo").first).id
    let information: JSONObject = [
      "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED",
    ]
    let path = "/inApps/v2/transactions/consumption/"
    #expect(try await call("PUT", path + team, information).status == 202)
    #expect(try await errorCode("PUT", path + String(assigned), information) == 4_000_227)
    #expect(
      try await errorCode(
        "PUT", "/inApps/v1/transactions/\(assigned)/appAccountToken",
        ["appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138"]) == 4_000_227)
    #expect(
      try await errorCode(
        "PUT", "/inApps/v1/subscriptions/extend/\(assigned)",
        ["extendByDays": 3, "extendReasonCode": 1, "requestIdentifier": "R"]) == 4_030_028)
  }
}
