import AppStore
import JSON
import Testing

@testable import Sandbox

/// Eligibility, price and duration of each kind of offer.
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

  @Test("A trial lasts its own period, is available once per group, and renews at the full price")
  mutating func introductory() throws {
    let id = try demo.buy("monthly", offer: "trial")
    let trial = try demo.sold(id)
    #expect(trial.price == 0 && trial.expiresDate == day(7))
    #expect(trial.offer?.identifier == nil)
    demo.pass(days: 7)
    #expect(try demo.sold(demo.line().current).price == 4990)
    #expect(throws: ActionError.self) { try demo.buy("monthly", offer: "trial") }
  }

  // Apple: "Implementing introductory offers in your app".
  @Test(
    "An introductory offer is available to lapsed customers who never used one, and to no current subscriber")
  mutating func introductoryEligibility() throws {
    let id = try demo.buy("gold")
    #expect(throws: ActionError.self) { try demo.buy("monthly", offer: "trial") }
    try demo.act(.autoRenew, ["transactionId": .string(String(id)), "enabled": false])
    demo.pass(days: 40)
    let trial = try demo.buy("monthly", offer: "trial")
    #expect(try demo.sold(trial).price == 0)
  }

  @Test("A promotional offer requires a subscriber, starts with the renewal and runs for its periods")
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

  @Test("An offer of a planned product ends with the plan")
  mutating func planTakenBack() throws {
    try demo.buy("gold")
    try demo.buy("monthly", offer: "stay")
    #expect(try demo.line().nextOffer?.id == "stay")
    try demo.buy("gold")
    #expect(try demo.line().nextOffer == nil)
    demo.pass(days: 31)
    let renewed = try demo.sold(demo.line().current)
    #expect(renewed.productID == "gold" && renewed.price == 9990)
  }

  @Test("A win-back offer is available to former subscribers only")
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

  // WWDC26-309: Apple shows it when a subscriber cancels.
  @Test("A retention offer is available to current subscribers only, as an offer of type 5")
  mutating func retention() throws {
    try demo.act(
      .offers,
      [
        "productId": "monthly", "id": "remain", "type": "RETENTION", "mode": "PAY_AS_YOU_GO", "period": "P1M",
        "price": 1990,
      ])
    #expect(throws: ActionError.self) { try demo.buy("monthly", offer: "remain") }
    try demo.buy("monthly")
    try demo.buy("monthly", offer: "remain")
    demo.pass(days: 31)
    let renewed = try demo.sold(demo.line().current)
    let payload = demo.world.payload(of: renewed, signed: demo.world.now)
    #expect(renewed.price == 1990 && payload["offerType"] == 5 && payload["offerIdentifier"] == "remain")
  }

  @Test("An unknown offer is rejected with the known offers")
  mutating func unknown() throws {
    #expect(throws: ActionError.unknown(what: "offer", name: "x", known: ["trial", "stay", "back"])) {
      try demo.buy("monthly", offer: "x")
    }
  }
}

/// Prices in other storefronts.
@Suite struct StorefrontTests {
  @Test("After a storefront change the next renewal is paid in the new storefront")
  func renewal() throws {
    var demo = DemoWorld()
    let first = try demo.buy("monthly")
    try demo.act(.storefront, ["account": "ann", "storefront": "JPN"])
    demo.pass(days: 32)
    let renewed = try demo.sold(demo.line().current)
    let payload = demo.world.payload(of: renewed, signed: demo.world.now)
    #expect(payload["storefront"] == "JPN" && payload["currency"] == "JPY")
    #expect(payload["price"] == 748_500)
    let before = demo.world.payload(of: try demo.sold(first), signed: demo.world.now)
    #expect(before["storefront"] == "USA" && before["currency"] == "USD" && before["price"] == 4990)
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    #expect(renewal["currency"] == "JPY" && renewal["renewalPrice"] == 748_500)
  }

  @Test("A price change in one storefront asks no subscriber elsewhere for consent")
  func ownPrice() throws {
    var demo = DemoWorld()
    try demo.act(.storefront, ["account": "ann", "storefront": "DEU"])
    try demo.buy("monthly")
    try demo.buy("monthly", "ben")
    try demo.act(
      .price,
      ["productId": "monthly", "price": 5990, "storefront": "DEU", "needsConsent": true, "notice": "0s"])
    #expect(demo.notifications("ann").last == "PRICE_INCREASE/PENDING")
    #expect(demo.notifications("ben").last == "SUBSCRIBED/INITIAL_BUY")
    let bought = try demo.buy("monthly", "cleo")
    #expect(try demo.sold(bought).price == 4990)
    #expect(throws: ActionError.self) {
      try demo.act(.price, ["productId": "monthly", "price": 1, "storefront": "MARS"])
    }
  }
}
