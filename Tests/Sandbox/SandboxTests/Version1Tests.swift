import AppStore
import JSON
import Testing

@testable import Sandbox

/// Version 1 notifications (Apple: notification_type, "Handle use cases for notification events").
@Suite("Version 1 notifications")
struct Version1Tests {
  private func world(rules: JSONValue = "PRODUCTION") throws -> DemoWorld {
    var demo = DemoWorld()
    try demo.act(.notificationURL, ["url": "http://service", "version": 1])
    try demo.act(.delivery, ["rules": rules])
    return demo
  }

  @Test(
    "An upgrade is DID_CHANGE_RENEWAL_STATUS and INTERACTIVE_RENEWAL, or on demand CANCEL and INTERACTIVE_RENEWAL"
  )
  func upgrade() throws {
    var demo = try world()
    try demo.buy("monthly")
    try demo.buy("gold")
    #expect(demo.notifications() == ["INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS", "INTERACTIVE_RENEWAL"])
    try demo.act(.delivery, ["upgradesByCancel": true])
    try demo.buy("monthly", "ben")
    try demo.buy("gold", "ben")
    #expect(demo.notifications("ben") == ["INITIAL_BUY", "CANCEL", "INTERACTIVE_RENEWAL"])
  }

  @Test("A downgrade is DID_CHANGE_RENEWAL_PREF")
  func downgrade() throws {
    var demo = try world()
    try demo.buy("gold")
    try demo.buy("monthly")
    #expect(demo.notifications() == ["INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF"])
  }

  @Test(
    "A returning subscriber of the same product has no INTERACTIVE_RENEWAL, of another product both types")
  func resubscription() throws {
    var demo = try world()
    let first = try demo.buy("monthly")
    try demo.act(.autoRenew, ["transactionId": .string(String(first)), "enabled": false])
    demo.pass(days: 40)
    let earlier = demo.world.notifications.count
    try demo.buy("monthly")
    #expect(demo.notifications(since: earlier) == ["DID_CHANGE_RENEWAL_STATUS"])
    try demo.act(.autoRenew, ["transactionId": .string(String(first)), "enabled": false])
    demo.pass(days: 40)
    let later = demo.world.notifications.count
    try demo.buy("gold")
    #expect(demo.notifications(since: later) == ["INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_STATUS"])
  }

  @Test(
    "Nothing is recorded for a one-time purchase; its refund is REFUND, and that of a subscription CANCEL")
  func oneTimePurchases() throws {
    var demo = try world()
    let coins = JSONValue.string(String(try demo.buy("coins")))
    #expect(demo.world.notifications.isEmpty && demo.world.outbox.count == 0)
    try demo.act(.requestConsumption, ["transactionId": coins])
    try demo.act(.refund, ["transactionId": coins])
    #expect(demo.notifications() == ["CONSUMPTION_REQUEST", "REFUND"])
    let news = try demo.buy("news", "ben")
    try demo.act(.refund, ["transactionId": .string(String(news))])
    #expect(demo.notifications("ben") == ["INITIAL_BUY", "CANCEL", "DID_CHANGE_RENEWAL_STATUS"])
  }

  @Test(
    "Apple's sandbox sends neither DID_FAIL_TO_RENEW nor DID_RECOVER", arguments: ["SANDBOX", "PRODUCTION"])
  func billing(rules: String) throws {
    var demo = try world(rules: .string(rules))
    try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 32)
    try demo.act(.billing, ["account": "ann", "fails": false])
    #expect(
      demo.notifications()
        == (rules == "SANDBOX" ? ["INITIAL_BUY"] : ["INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_RECOVER"]))
  }

  @Test("An exhausted billing retry is DID_CHANGE_RENEWAL_STATUS, and a voluntary end is nothing")
  func ends() throws {
    var demo = try world()
    try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 120)
    #expect(demo.notifications() == ["INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_CHANGE_RENEWAL_STATUS"])
    let id = try demo.buy("monthly", "ben")
    try demo.act(.autoRenew, ["transactionId": .string(String(id)), "enabled": false])
    demo.pass(days: 40)
    #expect(demo.notifications("ben") == ["INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS"])
  }

  // Apple: Request a Test Notification.
  @Test("A test notification has version 2, also for a URL of version 1")
  func testNotification() throws {
    var demo = try world()
    try demo.act(.testNotification)
    let sent = try #require(demo.world.notifications.last)
    #expect(sent.type == .test && sent.version == 2)
  }
}
