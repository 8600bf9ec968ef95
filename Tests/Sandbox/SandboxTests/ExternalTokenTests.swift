import AppStore
import JSON
import Testing

@testable import Sandbox

/// External purchase tokens and mass extensions: the notifications without an own event in StoreKit.
@Suite("External purchase tokens and mass extensions")
struct ExternalTokenTests {
  private func subtypes(_ demo: DemoWorld) -> [NotificationSubtype?] {
    demo.world.notifications.filter { $0.type == .externalPurchaseToken }.map(\.subtype)
  }

  private func report(_ status: JSONValue, _ id: String, in demo: inout DemoWorld) throws {
    try demo.act(
      .externalPurchaseReport,
      ["report": ["requestIdentifier": "R", "externalPurchaseId": .string(id), "status": status]])
  }

  // Apple: subtype; "Reporting unrecognized and transactionless tokens".
  @Test("A token of the custom link API is announced, and complained about after it expired without report")
  func expiry() throws {
    var demo = DemoWorld()
    let outcome = try demo.act(.externalPurchaseToken, ["tokenType": "SERVICES"])
    let id = try #require(outcome.members.first { $0.0 == "externalPurchaseId" }?.1)
    #expect(id.hasPrefix("SANDBOX") && subtypes(demo) == [.created])
    demo.pass(days: 1)
    #expect(subtypes(demo) == [.created, .unreported])
    let complaint = try #require(demo.world.notifications.last)
    let expires = try #require(demo.world.externalTokens[id]?.expires)
    // In Sandbox tokens live for an hour.
    #expect(expires == DemoWorld.start.advanced(byMilliseconds: 3_600_000))
    #expect(complaint.date > expires && complaint.date < expires.advanced(byMilliseconds: 600_000))
    demo.pass(days: 100)
    #expect(subtypes(demo).count == 2)
  }

  @Test("An active token has monthly reminders until it expires or is reported as a duplicate")
  func reminders() throws {
    var demo = DemoWorld()
    let outcome = try demo.act(.externalPurchaseToken, ["tokenType": "ACQUISITION", "expires": "100d"])
    let id = outcome.members[0].1
    try report("LINE_ITEM", id, in: &demo)
    demo.pass(days: 65)
    #expect(subtypes(demo) == [.created, .activeTokenReminder, .activeTokenReminder])
    try report("DUPLICATE_TOKEN", id, in: &demo)
    demo.pass(days: 200)
    #expect(subtypes(demo).count == 3)
  }

  @Test("A token without type is complained about ten days after its creation, unless it was reported")
  func plainToken() throws {
    var demo = DemoWorld()
    let reported = try demo.act(.externalPurchaseToken).members[0].1
    try demo.act(.externalPurchaseToken)
    try report("NO_LINE_ITEM", reported, in: &demo)
    demo.pass(days: 9)
    #expect(subtypes(demo).isEmpty)
    demo.pass(days: 2)
    #expect(subtypes(demo) == [.unreported])
    #expect(demo.world.notifications.last?.date == day(10))
  }

  @Test("The notification has the token's content")
  func content() async throws {
    let store = try AppStoreSimulator(apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start })
    _ = try await store.perform(
      .externalPurchaseToken, Parameters(["app": "demo", "tokenType": "ACQUISITION"]))
    let notification = try #require(await store.world.notifications.first)
    let payload = try ResponseBodyV2DecodedPayload(
      json: UnverifiedPayload.of(try await store.signedPayload(of: notification)))
    let token = try #require(payload.externalPurchaseToken)
    #expect(payload.data == nil && token.environment == .sandbox && token.tokenType == .acquisition)
    #expect((token.appAppleId, token.bundleId) == (1234, "com.example"))
    #expect(
      token.tokenExpirationDate?.milliseconds(since: try #require(token.tokenCreationDate)) == 3_600_000)
  }

  // Apple: subtype, FAILURE and SUMMARY; SubscriptionExtensionIneligibleError.
  @Test("A mass extension announces each failure with the subscription's data, and then the counts")
  func massExtension() throws {
    var demo = DemoWorld()
    try demo.buy("monthly")
    let failing = try demo.buy("monthly", "ben")
    try demo.act(.billing, ["account": "ben", "fails": true])
    demo.pass(days: 32)
    let earlier = demo.world.notifications.count
    try demo.act(.massExtend, ["productId": "monthly", "days": 3, "requestIdentifier": "R"])
    let sent = demo.world.notifications.dropFirst(earlier)
    #expect(
      Set(sent.map(\.name)) == ["RENEWAL_EXTENDED", "RENEWAL_EXTENSION/FAILURE", "RENEWAL_EXTENSION/SUMMARY"])
    let failure = try #require(sent.first { $0.subtype == .failure })
    #expect(failure.transaction?.originalID == failing)
    guard case .massExtension(let summary)? = sent.last?.subject else {
      Issue.record("the summary comes last")
      return
    }
    #expect(summary.requestIdentifier == "R" && summary.succeeded == 1 && summary.failed == 1)
  }
}
