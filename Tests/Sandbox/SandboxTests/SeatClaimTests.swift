import AppStore
import JSON
import Testing

@testable import Sandbox

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
    #expect(try claim("three") != first)
    #expect(throws: ActionError.self) {
      try demo.act(.assignSeat, ["transactionId": id, "account": "bob"])
    }
  }

  // Apple: unclaimInfo, "the seat claims the App Store unclaimed"; Unclaim Seat is the developer's own call.
  @Test("UNCLAIM_SEATS is sent when the purchaser removes a member, not when the developer does")
  func unclaimed() throws {
    var (demo, id) = try demo(seats: 2)
    for action in [Action.releaseSeat, .unclaimSeat] {
      let request: JSONObject = ["transactionId": id, "requestIdentifier": .string(action.rawValue)]
      let claim = try #require(try demo.act(.claimSeat, request).members.first?.1)
      try demo.act(action, ["transactionId": id, "seatClaimId": .string(claim)])
      #expect(try demo.line().claims.isEmpty)
    }
    #expect(demo.notifications() == ["SUBSCRIBED/INITIAL_BUY", "UNCLAIM_SEATS"])
  }

  // Apple: NoAvailableSeatsError, "the App Store doesn't unclaim seats when the subscription renews".
  @Test("Claims outlast a renewal with fewer seats")
  func fewerSeats() throws {
    var (demo, id) = try demo(seats: 2)
    for request in ["one", "two"] as [JSONValue] {
      try demo.act(.claimSeat, ["transactionId": id, "requestIdentifier": request])
    }
    try demo.act(.seats, ["transactionId": id, "seats": 1])
    demo.pass(days: 31)
    #expect(try demo.line().claims.count == 2)
    #expect(demo.world.seats(of: try demo.line()) == 1)
    #expect(!demo.notifications().contains("UNCLAIM_SEATS"))
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
