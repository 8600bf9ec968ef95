import AppStore
import JSON
import Testing

@testable import Sandbox

/// Offers of each kind: who may have them, what they cost, and when they are over.
@Suite struct OfferTests {
  private var demo = DemoWorld()

  init() throws {
    try demo.act(
      .offers,
      ["productId": "monthly", "id": "trial", "type": "INTRODUCTORY", "mode": "FREE_TRIAL", "period": "P1W"])
    try demo.act(
      .offers,
      [
        "productId": "monthly", "id": "stay", "type": "PROMOTIONAL", "mode": "PAY_AS_YOU_GO", "period": "P1M",
        "periods": 2, "price": 990,
      ])
    try demo.act(
      .offers,
      [
        "productId": "monthly", "id": "back", "type": "WIN_BACK", "mode": "PAY_UP_FRONT", "period": "P3M",
        "price": 5990,
      ])
  }

  @Test("A trial lasts its own length, is had once in a group, and is followed by the full price")
  mutating func introductory() throws {
    let id = try demo.buy("monthly", offer: "trial")
    let trial = try demo.sold(id)
    #expect(trial.price == 0 && trial.expiresDate == day(7))
    #expect(trial.offer?.identifier == nil)
    demo.pass(days: 7)
    #expect(try demo.sold(demo.line().current).price == 4990)
    #expect(throws: ActionError.self) { try demo.buy("monthly", offer: "trial") }
  }

  @Test("A promotional offer is for subscribers, begins with the renewal, and runs for its periods")
  mutating func promotional() throws {
    #expect(throws: ActionError.self) { try demo.buy("monthly", offer: "stay") }
    try demo.buy("monthly")
    try demo.buy("monthly", offer: "stay")
    #expect(demo.notifications().last == "OFFER_REDEEMED")
    var prices: [Int64] = []
    for _ in 0..<3 {
      demo.pass(days: 31)
      prices.append(try demo.sold(demo.line().current).price)
    }
    #expect(prices == [990, 990, 4990])
  }

  @Test("A win-back offer is named to who left, and is for nobody else")
  mutating func winBack() throws {
    let id = try demo.buy("monthly")
    #expect(throws: ActionError.self) { try demo.buy("monthly", offer: "back") }
    try demo.act(.autoRenew, ["transactionId": .string(String(id)), "enabled": false])
    demo.pass(days: 40)
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    #expect(renewal["eligibleWinBackOfferIds"] == ["back"])
    let returned = try demo.buy("monthly", offer: "back")
    let back = try demo.sold(returned)
    #expect(back.price == 5990 && back.offer?.type == .winBack)
    #expect(back.expiresDate == back.purchaseDate.advanced(by: Period("P3M")!))
  }

  @Test("An offer that is not there is named with those that are")
  mutating func unknown() throws {
    #expect(throws: ActionError.unknown(what: "offer", name: "x", known: ["trial", "stay", "back"])) {
      try demo.buy("monthly", offer: "x")
    }
  }
}
