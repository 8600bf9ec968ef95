import AppStore
import JSON
import Testing

@testable import Sandbox

/// Families and seats.
@Suite struct SharingTests {
  private var demo = DemoWorld()

  @Test("The family has what one of them bought as long as it is shared, each with transactions of their own")
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

  @Test("A refund takes what was shared, and its reversal gives it back")
  mutating func refund() throws {
    try demo.act(.shareable, ["productId": "monthly"])
    let bought = try demo.buy("monthly")
    for name in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(name), "family": "f"]) }
    try demo.act(.refund, ["transactionId": .string(String(bought))])
    #expect(demo.notifications("bob").last == "REVOKE")
    let revoked = try #require(demo.world.purchases(of: "bob", in: "demo").last?.revocation)
    #expect(revoked.type == .familyRevoke)
    try demo.act(.reverseRefund, ["transactionId": .string(String(bought))])
    #expect(demo.notifications("bob").last == "SUBSCRIBED/RESUBSCRIBE")
  }

  @Test("Seats are assigned one by one, and no more than there are")
  mutating func seats() throws {
    let order: JSONObject = ["productId": "monthly", "account": "boss", "seats": 2]
    let id = try #require(try demo.act(.purchases, order).transactions.first)
    for name in ["ann", "bob"] {
      try demo.act(.assignSeat, ["transactionId": .string(String(id)), "account": .string(name)])
    }
    #expect(throws: ActionError.notPossible("\(id) has no seat left")) {
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

  @Test("A child's purchase waits for a parent's word, and no longer than a day")
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
