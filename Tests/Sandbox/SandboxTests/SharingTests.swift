import AppStore
import JSON
import Testing

@testable import Sandbox

/// Families and seats.
@Suite struct SharingTests {
  private var demo = DemoWorld()

  @Test("Family members have transactions of their own while a purchase is shared")
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

  @Test("Assigning more seats than were bought fails")
  mutating func seats() throws {
    let order: JSONObject = ["productId": "monthly", "account": "boss", "seats": 2]
    let id = try #require(try demo.act(.purchases, order).transactions.first)
    for name in ["ann", "bob"] {
      try demo.act(.assignSeat, ["transactionId": .string(String(id)), "account": .string(name)])
    }
    #expect(throws: ActionError.notPossible("subscription \(id) has no free seat")) {
      try demo.act(.assignSeat, ["transactionId": .string(String(id)), "account": "cem"])
    }
    #expect(demo.world.purchases(of: "bob", in: "demo").first?.ownership == .assigned)
    try demo.act(.unclaimSeat, ["transactionId": .string(String(id)), "account": "bob"])
    #expect(demo.notifications("bob").last == "REVOKE" && demo.notifications("boss").last == "UNCLAIM_SEATS")
    try demo.act(.seats, ["transactionId": .string(String(id)), "seats": 3])
    #expect(try demo.sold(id).quantity == 3)
    try demo.act(.seats, ["transactionId": .string(String(id)), "seats": 1])
    demo.pass(days: 31)
    #expect(try demo.sold(demo.line("boss").current).quantity == 1)
    try demo.act(.seats, ["transactionId": .string(String(id)), "seats": 4])
    try demo.act(.refundSeats, ["transactionId": .string(String(id)), "seats": 1])
    #expect(try demo.line("boss").status == .active)
    #expect(demo.notifications("boss").last == "REFUND/SEATS")
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

/// Seats whose invitations the developer manages.
@Suite struct SeatClaimTests {
  private func demo(seats: Int64) throws -> (DemoWorld, JSONValue) {
    var demo = DemoWorld()
    try demo.act(.invitations, ["productId": "gold", "management": "DEVELOPER"])
    let bought = try demo.act(
      .purchases, ["productId": "gold", "account": "ann", "seats": .number(JSONNumber(seats))])
    return (demo, .string(String(try #require(bought.transactions.first))))
  }

  @Test("A repeated claim returns the same seat, and claims beyond the seats bought fail")
  func claims() throws {
    var (demo, id) = try demo(seats: 2)
    func claim(_ request: String) throws -> String? {
      try demo.act(.claimSeat, ["transactionId": id, "requestIdentifier": .string(request)])
        .members.first?.1
    }
    let first = try claim("one")
    #expect(try claim("one") == first)
    #expect(try claim("two") != first)
    #expect(throws: ActionError.self) { try claim("three") }
    try demo.act(.releaseSeat, ["transactionId": id, "seatClaimId": .string(try #require(first))])
    #expect(demo.notifications().last == "UNCLAIM_SEATS")
    #expect(try claim("three") != first)
  }

  @Test("Signed documents carry the invitation management and the price tiers")
  func signed() throws {
    let (demo, _) = try demo(seats: 3)
    let payload = demo.world.payload(of: try demo.sold(demo.line().current), signed: demo.world.now)
    let info = try TransactionMultiSeatInfo(json: try #require(payload["multiSeatInfo"]?.objectValue))
    #expect(info.invitationManagement == .developer)
    #expect(info.priceTiers?.map(\.tierQuantity) == [3])
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    #expect(renewal["renewalQuantity"] == 3 && renewal["multiSeatInfo"] != nil)
  }
}
