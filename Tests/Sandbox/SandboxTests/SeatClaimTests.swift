import AppStore
import JSON
import Testing

@testable import Sandbox

/// Seats to which the developer invites.
@Suite struct SeatClaimTests {
  private func demo(seats: Int64) throws -> (DemoWorld, JSONValue) {
    var demo = DemoWorld()
    try demo.act(.invitations, ["productId": "gold", "management": "DEVELOPER"])
    let bought = try demo.act(
      .purchases, ["productId": "gold", "account": "ann", "seats": .number(JSONNumber(seats))])
    return (demo, .string(String(try #require(bought.transactions.first))))
  }

  @Test("The same request gives the same seat, and not more are claimed than were bought")
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

  @Test("What is signed says who invites, and how many seats there are at which price")
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
