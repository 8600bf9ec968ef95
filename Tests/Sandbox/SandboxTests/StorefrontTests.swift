import AppStore
import JSON
import Testing

@testable import Sandbox

/// What things cost in other countries.
@Suite struct StorefrontTests {
  @Test("Who moves to another storefront pays there from the next renewal on")
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

  @Test("A price can be set for one storefront, and nobody elsewhere is asked for consent")
  func ownPrice() throws {
    var demo = DemoWorld()
    try demo.act(.storefront, ["account": "ann", "storefront": "DEU"])
    try demo.buy("monthly")
    try demo.buy("monthly", "ben")
    try demo.act(
      .price, ["productId": "monthly", "price": 5990, "storefront": "DEU", "needsConsent": true])
    #expect(demo.notifications("ann").last == "PRICE_INCREASE/PENDING")
    #expect(demo.notifications("ben").last == "SUBSCRIBED/INITIAL_BUY")
    let bought = try demo.buy("monthly", "cleo")
    #expect(try demo.sold(bought).price == 4990)
    #expect(throws: ActionError.self) {
      try demo.act(.price, ["productId": "monthly", "price": 1, "storefront": "MARS"])
    }
  }
}
