import AppStore
import JSON
import Testing

@testable import Sandbox

/// Family Sharing and Ask to Buy.
@Suite struct SharingTests {
  private var demo = DemoWorld()

  @Test("Family members have separate transactions while a purchase is shared")
  mutating func family() throws {
    try demo.act(.shareable, ["productId": "monthly"])
    try demo.act(.shareable, ["productId": "unlock"])
    let bought = try demo.buy("monthly")
    try demo.buy("unlock")
    for name in ["ann", "bob", "cem"] {
      try demo.act(.joinFamily, ["account": .string(name), "family": "f"])
    }
    let bobs = try #require(demo.world.subscriptions(of: "bob", in: "demo").first)
    #expect(bobs.ownership == .familyShared && bobs.id != bought)
    demo.pass(days: 31)
    #expect(demo.notifications("bob") == ["SUBSCRIBED/INITIAL_BUY", "ONE_TIME_CHARGE", "DID_RENEW"])
    let renewed = try #require(demo.world.purchases(of: "bob", in: "demo").last)
    #expect(renewed.originalID == bobs.id && renewed.expiresDate == day(59))

    try demo.act(.leaveFamily, ["account": "cem"])
    #expect(demo.notifications("cem").suffix(2) == ["REVOKE", "REVOKE"])
    try demo.act(.stopSharing, ["transactionId": .string(String(bought))])
    #expect(demo.notifications("bob").last == "REVOKE")
    #expect(demo.world.lines[bobs.id]?.status == .revoked)
    #expect(!demo.notifications().contains("REVOKE"))
    #expect(try demo.line().status == .active)
  }

  @Test("Members are not told of the purchaser's offer, but of what else changes with it")
  mutating func offer() throws {
    try demo.act(.shareable, ["productId": "monthly"])
    try demo.act(
      .offers,
      [
        "productId": "monthly", "id": "stay", "type": "PROMOTIONAL", "mode": "PAY_AS_YOU_GO", "period": "P1M",
        "price": 990,
      ])
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    let bought = try demo.buy("monthly")
    try demo.buy("monthly", offer: "stay")
    #expect(demo.notifications("bob") == ["SUBSCRIBED/INITIAL_BUY"])
    try demo.act(.autoRenew, ["transactionId": .string(String(bought)), "enabled": false])
    try demo.buy("monthly", offer: "stay")
    #expect(
      demo.notifications().suffix(2) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "OFFER_REDEEMED"])
    #expect(demo.notifications("bob").last == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED")
    try demo.buy("weekly")
    try demo.buy("monthly", offer: "stay")
    #expect(
      demo.notifications("bob").suffix(2) == ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF"])
  }

  @Test("A refund ends sharing, and its reversal restores it")
  mutating func refund() throws {
    try demo.act(.shareable, ["productId": "monthly"])
    let bought = try demo.buy("monthly")
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    try demo.act(.refund, ["transactionId": .string(String(bought)), "reason": "APP_ISSUE"])
    #expect(demo.notifications("bob").last == "REVOKE")
    let revoked = try #require(demo.world.purchases(of: "bob", in: "demo").last?.revocation)
    // Apple, revocationReason: the members' is the purchaser's.
    #expect(revoked.type == .familyRevoke && revoked.reason == .appIssue)
    try demo.act(.reverseRefund, ["transactionId": .string(String(bought))])
    #expect(demo.notifications("bob").last == "SUBSCRIBED/RESUBSCRIBE")
  }

  @Test("An upgrade to a product without Family Sharing revokes the members' access")
  mutating func upgradeWithoutSharing() throws {
    try demo.act(.shareable, ["productId": "monthly"])
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    try demo.buy("monthly")
    try demo.buy("gold")
    #expect(demo.notifications("bob") == ["SUBSCRIBED/INITIAL_BUY", "REVOKE"])
    let revoked = try #require(demo.world.purchases(of: "bob", in: "demo").last?.revocation)
    #expect(revoked.type == .familyRevoke && revoked.reason == .other)
    #expect(demo.world.ownedProducts(of: "bob", in: "demo").isEmpty)
  }

  @Test("A change to a product with Family Sharing shares it with the family")
  mutating func upgradeWithSharing() throws {
    try demo.act(.shareable, ["productId": "gold"])
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    try demo.buy("monthly")
    try demo.buy("gold")
    #expect(demo.notifications("bob") == ["SUBSCRIBED/INITIAL_BUY"])
  }

  @Test("A renewal to a product without Family Sharing lets the members' access expire")
  mutating func downgradeWithoutSharing() throws {
    demo.world.timing = RenewalTiming()
    try demo.act(.shareable, ["productId": "gold"])
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    try demo.buy("gold")
    try demo.buy("monthly")
    let end = try demo.line().expiresDate
    demo.world.advance(to: end.advanced(byMilliseconds: -1))
    #expect(demo.notifications().last == "DID_RENEW")
    #expect(demo.world.subscriptions(of: "bob", in: "demo").first?.isEntitling == true)
    demo.world.advance(to: end)
    #expect(
      demo.notifications("bob") == [
        "SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "EXPIRED/VOLUNTARY",
      ])
    #expect(demo.world.purchases(of: "bob", in: "demo").allSatisfy { $0.revocation == nil })
  }

  // Apple: paymentQueue(_:didRevokeEntitlementsForProductIdentifiers:) lists the conditions; revocationReason is 0 unless
  // the purchaser was refunded.
  private static let endsOfSharing: [(Action, JSONObject)] = [
    (.leaveFamily, ["account": "bob"]), (.leaveFamily, ["account": "ann"]),
    (.joinFamily, ["account": "bob", "family": "other"]), (.stopSharing, ["transactionId": "monthly"]),
    (.stopSharing, ["transactionId": "unlock"]),
  ]

  @Test("REVOKE has reason 0 when sharing ends without a refund", arguments: endsOfSharing)
  mutating func endOfSharing(action: Action, members: JSONObject) throws {
    for product in ["monthly", "unlock"] {
      try demo.act(.shareable, ["productId": .string(product)])
      let bought = JSONValue.string(String(try demo.buy(product)))
      if members["transactionId"] == .string(product) {
        var named = members
        named["transactionId"] = bought
        for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
        try demo.act(action, named)
      }
    }
    if members["transactionId"] == nil {
      for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
      try demo.act(action, members)
    }
    let revoked = demo.world.purchases(of: "bob", in: "demo").compactMap(\.revocation)
    #expect(revoked.count == (members["transactionId"] == nil ? 2 : 1))
    #expect(revoked.allSatisfy { $0.reason == .other && $0.type == .familyRevoke && $0.percentage == nil })
    #expect(!demo.notifications().contains("REVOKE"))
  }

  @Test("A member who joins later gets what is shared, and not what the purchaser stopped sharing")
  mutating func lateMember() throws {
    for product in ["monthly", "unlock"] { try demo.act(.shareable, ["productId": .string(product)]) }
    let unlock = JSONValue.string(String(try demo.buy("unlock")))
    try demo.buy("monthly")
    try demo.act(.joinFamily, ["account": "ann", "family": "f"])
    demo.pass(days: 40)
    try demo.act(.joinFamily, ["account": "bob", "family": "f"])
    #expect(demo.notifications("bob") == ["ONE_TIME_CHARGE", "SUBSCRIBED/INITIAL_BUY"])
    let shared = try #require(demo.world.purchases(of: "bob", in: "demo").first)
    #expect(shared.ownership == .familyShared && shared.purchaseDate == demo.world.now)
    #expect(shared.isFirst && shared.appAccountToken == nil)
    try demo.act(.stopSharing, ["transactionId": unlock])
    try demo.act(.joinFamily, ["account": "cem", "family": "f"])
    #expect(demo.notifications("cem") == ["SUBSCRIBED/INITIAL_BUY"])
    try demo.act(.share, ["transactionId": unlock])
    #expect(demo.notifications("cem").last == "ONE_TIME_CHARGE")
  }

  @Test("A refund of a non-consumable that was bought again revokes the members' copies")
  mutating func boughtAgain() throws {
    try demo.act(.shareable, ["productId": "unlock"])
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    for _ in 0..<2 {
      let bought = JSONValue.string(String(try demo.buy("unlock")))
      try demo.act(.refund, ["transactionId": bought, "reason": "APP_ISSUE"])
    }
    #expect(demo.notifications("bob") == ["ONE_TIME_CHARGE", "REVOKE", "ONE_TIME_CHARGE", "REVOKE"])
    #expect(demo.world.purchases(of: "bob", in: "demo").allSatisfy { $0.revocation?.reason == .appIssue })
  }

  @Test("A member who joins between charge and period start has one transaction for the next period")
  mutating func joinsAfterTheCharge() throws {
    demo.world.timing = RenewalTiming()
    try demo.act(.shareable, ["productId": "monthly"])
    try demo.buy("monthly")
    try demo.act(.joinFamily, ["account": "ann", "family": "f"])
    demo.world.advance(to: try demo.line().expiresDate.advanced(byMilliseconds: -1))
    #expect(demo.notifications().last == "DID_RENEW")
    try demo.act(.joinFamily, ["account": "bob", "family": "f"])
    try demo.act(.autoRenew, ["transactionId": .string(String(try demo.line().id)), "enabled": false])
    #expect(demo.world.purchases(of: "bob", in: "demo").count == 1)
    #expect(
      demo.world.subscriptions(of: "bob", in: "demo").first?.expiresDate == (try demo.line().expiresDate))
  }

  @Test("REVOKE covers the current period when the next one is already charged")
  mutating func leavesAfterTheCharge() throws {
    demo.world.timing = RenewalTiming()
    try demo.act(.shareable, ["productId": "monthly"])
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    try demo.buy("monthly")
    demo.world.advance(to: try demo.line().expiresDate.advanced(byMilliseconds: -1))
    #expect(demo.notifications("bob").last == "DID_RENEW")
    try demo.act(.leaveFamily, ["account": "bob"])
    #expect(demo.notifications("bob").suffix(2) == ["REVOKE", "REVOKE"])
    #expect(demo.world.purchases(of: "bob", in: "demo").allSatisfy { $0.revocation?.date == demo.world.now })
  }

  // Apple: "Supporting Family Sharing in your app", "up to five family members".
  @Test("A family has at most six members")
  mutating func familySize() throws {
    for number in 1...6 {
      try demo.act(.joinFamily, ["account": .string("member-\(number)"), "family": "f"])
    }
    #expect(throws: ActionError.notPossible("family 'f' has 6 members")) {
      try demo.act(.joinFamily, ["account": "ann", "family": "f"])
    }
    try demo.act(.joinFamily, ["account": "member-3", "family": "f"])
  }

  @Test("An Ask to Buy request waits for approval and expires after 24 hours")
  mutating func askToBuy() throws {
    let order: JSONObject = ["productId": "unlock", "account": "kid", "askToBuy": true]
    func request(_ outcome: Outcome) throws -> JSONValue {
      .string(try #require(outcome.members.first { $0.0 == "request" }?.1))
    }
    let declined = try request(demo.act(.purchases, order))
    #expect(try demo.act(.askToBuy, ["request": declined, "approved": false]).transactions.isEmpty)
    let approved = try request(demo.act(.purchases, order))
    #expect(demo.notifications("kid").isEmpty)
    #expect(try demo.act(.askToBuy, ["request": approved, "approved": true]).transactions.count == 1)
    #expect(demo.notifications("kid") == ["ONE_TIME_CHARGE"])
    let late = try request(demo.act(.purchases, order))
    demo.pass(days: 2)
    #expect(throws: ActionError.self) { try demo.act(.askToBuy, ["request": late, "approved": true]) }
  }
}
