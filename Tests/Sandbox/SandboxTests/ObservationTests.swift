import AppStore
import HTTP
import JSON
import Testing

@testable import Sandbox

/// The views of testers.
@Suite struct ObservationTests {
  private let poster = AnsweringPoster()
  private let store: AppStoreSimulator

  init() throws {
    store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start }, poster: poster)
  }

  private func post(_ path: String, _ members: JSONObject) async throws -> JSONObject {
    let response = await store.respond(
      to: HTTPRequest(method: "POST", target: "/sandbox/v1/\(path)", body: members.serialized()))
    #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try #require(JSONValue(parsing: response.body).objectValue)
  }

  private func get(_ path: String) async throws -> JSONObject {
    let response = await store.respond(to: HTTPRequest(method: "GET", target: "/sandbox/v1/\(path)"))
    return try #require(JSONValue(parsing: response.body).objectValue)
  }

  private func setUp() async throws -> JSONObject {
    _ = try await post("renewal-timing", ["chargeLead": "0s", "failureDelay": "0s", "staleFailures": 0])
    _ = try await post("notification-url", ["app": "demo", "url": "http://127.0.0.1:9/hook"])
    _ = try await post("grace-period", ["app": "demo", "days": 16])
    return try await post("purchases", ["app": "demo", "productId": "monthly", "account": "ann"])
  }

  @Test("The next event is the renewal, then the end of the grace period, then the end of billing retry")
  func next() async throws {
    #expect(try await get("clock/next") == [:])
    _ = try await setUp()
    await store.deliverDue(waitingAtMost: 60_000)
    #expect(await store.clockView().next?.kind == .renewal)
    _ = try await post("billing", ["account": "ann", "fails": true])
    for expected in ["END_OF_GRACE_PERIOD", "END_OF_BILLING_RETRY"] {
      let next = try #require(try await get("clock/next")["at"])
      _ = try await post("clock/advance", ["to": next])
      let following = try await get("clock/next")
      #expect(following["kind"]?.stringValue == expected && following["account"] == "ann")
    }
  }

  @Test("A notification has its decoded content, and the responses that it got")
  func notification() async throws {
    let bought = try await setUp()
    await store.deliverDue(waitingAtMost: 60_000)
    let list = try #require(try await get("notifications")["notifications"]?.arrayValue)
    let uuid = try #require(list.last?.objectValue?["notificationUUID"]?.stringValue)
    let json = try await get("notifications/\(uuid)")
    let payload = try #require(json["payload"]?.objectValue)
    #expect(payload["notificationType"] == "SUBSCRIBED")
    let data = try #require(payload["data"]?.objectValue)
    #expect(data["signedTransactionInfo"]?.objectValue?["transactionId"] == bought["transactionId"])
    let attempt = try #require(json["attempts"]?.arrayValue?.first?.objectValue)
    #expect(attempt["status"] == 200 && attempt["response"] == "thanks" && attempt["result"] == "SUCCESS")
    #expect(attempt["url"] == "http://127.0.0.1:9/hook")
    #expect(json["body"]?.stringValue?.contains("signedPayload") == true)
    let unknown = await store.respond(
      to: HTTPRequest(method: "GET", target: "/sandbox/v1/notifications/none"))
    #expect(unknown.status == 404)
  }

  @Test("A notification can be sent again, also one that was dropped")
  func resend() async throws {
    _ = try await setUp()
    _ = try await post("faults", ["kind": "drop"])
    await store.deliverDue(waitingAtMost: 60_000)
    let first = try #require(await store.world.notifications.first)
    #expect(first.attempts.map(\.result) == [.noResponse] && first.nextAttempt == nil)
    _ = try await post("resend-notification", ["notificationUUID": .string(first.uuid)])
    await store.deliverDue(waitingAtMost: 60_000)
    let again = try #require(await store.world.notifications.first)
    #expect(again.attempts.map(\.result) == [.noResponse, .success])
    #expect(await store.world.outbox.count == 0)
  }

  @Test("The journal names each action with the notifications that it caused")
  func journal() async throws {
    _ = try await setUp()
    _ = try await post("clock/advance", ["by": "32d"])
    _ = try await post("clock", ["speed": 60])
    let lines = try #require(try await get("journal")["journal"]?.arrayValue?.compactMap(\.objectValue))
    #expect(lines.map { $0["line"]?.int64Value } == (1...Int64(lines.count)).map { $0 })
    let purchase = try #require(lines.first { $0["action"] == "purchases" })
    #expect(purchase["notifications"] == ["SUBSCRIBED/INITIAL_BUY"])
    #expect(purchase["with"]?.objectValue?["account"] == "ann")
    let advance = try #require(lines.first { $0["advanced"] != nil })
    #expect(advance["notifications"] == ["DID_RENEW"])
    #expect(lines.last?["speed"] == 60)
    let page = try await get("journal?after=2&limit=1")
    #expect(page["journal"]?.arrayValue?.first?.objectValue?["line"] == 3)
    #expect(page["last"]?.int64Value == Int64(lines.count))
  }

  @Test("Times of failed payments follow from the states of notifications")
  func failedPayments() async throws {
    _ = try await setUp()
    _ = try await post("billing", ["account": "ann", "fails": true])
    _ = try await post("clock/advance", ["by": "60d"])
    _ = try await post("billing", ["account": "ann", "fails": false])
    let (account, history) = try #require(await store.accountView("ann", in: "demo"))
    #expect(account.purchases.map(\.state) == [.active])
    #expect(history.failedPayments.map(\.hasAccess) == [true, false])
    let (grace, retry) = (history.failedPayments[0], history.failedPayments[1])
    #expect(grace.since == history.transactions[0].expires)
    #expect(grace.until.milliseconds(since: grace.since) == 16 * 86_400_000)
    #expect(retry.since == grace.until && retry.until == history.transactions[1].date)
  }

  @Test("Old entries leave the journal in memory, and numbers stay")
  func limit() {
    var history = JournalHistory()
    for _ in 0..<(JournalHistory.limit + 2_500) {
      history.append(.passed, at: DemoWorld.start, notifications: 0)
    }
    #expect(history.count == JournalHistory.limit + 2_500)
    #expect(
      history.lines.count >= JournalHistory.limit && history.lines.count <= JournalHistory.limit + 1_000)
    #expect(history.lines.last?.number == history.count)
  }

  @Test("Every optional member and every choice belongs to a member of its action")
  func members() {
    for action in Action.allCases {
      #expect(action.optionalMembers.isSubset(of: action.members), "\(action)")
      for member in action.members {
        #expect(action.choices(of: member)?.isEmpty != true, "\(action) \(member)")
      }
    }
  }
}

/// Accepts everything with a text.
private struct AnsweringPoster: NotificationPoster {
  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    ReceiverResponse(result: .success, status: 200, body: Array("thanks".utf8))
  }
}
