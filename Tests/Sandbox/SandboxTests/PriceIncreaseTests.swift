import AppStore
import JSON
import Testing

@testable import Sandbox

/// Announcements of price increases, and consent.
@Suite struct PriceIncreaseTests {
  private var demo = DemoWorld()

  private mutating func setPrice(_ price: Int64, of product: String, _ members: JSONObject = [:]) throws {
    var members = members
    members["productId"] = .string(product)
    members["price"] = JSONValue(price)
    try demo.act(.price, members)
  }

  // WWDC19, session 302.
  @Test(
    "A price increase is announced 7, 10 or 30 days before the renewal",
    arguments: [("weekly", "pro", 7), ("monthly", "pro", 10), ("news", "news", 30)]
      as [(String, String, Int64)])
  mutating func notice(product: String, group: String, days: Int64) throws {
    try demo.buy(product)
    try setPrice(try demo.line("ann", group).renewalPrice + 1000, of: product, ["needsConsent": true])
    let end = try demo.line("ann", group).expiresDate
    let announcement = end.advanced(byMilliseconds: -days * 86_400_000)
    demo.world.advance(to: max(demo.world.now, announcement.advanced(byMilliseconds: -1)))
    if days > 7 { #expect(demo.notifications().last == "SUBSCRIBED/INITIAL_BUY") }
    demo.world.advance(to: announcement)
    #expect(demo.notifications().last == "PRICE_INCREASE/PENDING")
    demo.world.advance(to: end)
    #expect(demo.notifications().last == "EXPIRED/PRICE_INCREASE")
    let renewal = demo.world.payload(of: try demo.line("ann", group), signed: demo.world.now)
    #expect(renewal["expirationIntent"] == 3)
  }

  @Test("A renewal that is nearer than the notice keeps the old price, and the next one has the new price")
  mutating func tooLate() throws {
    try demo.buy("monthly")
    demo.pass(days: 25)
    try setPrice(5990, of: "monthly")
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    #expect(renewal["priceIncreaseStatus"] == nil && renewal["renewalPrice"] == 4990)
    demo.pass(days: 6)
    #expect(try demo.sold(demo.line().current).price == 4990)
    #expect(demo.notifications() == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW"])
    demo.world.advance(to: day(49))
    #expect(demo.notifications().last == "PRICE_INCREASE/ACCEPTED")
    demo.world.advance(to: day(59))
    #expect(try demo.sold(demo.line().current).price == 5990)
    #expect(try demo.line().priceIncrease == nil)
  }

  @Test("An announcement that is due at the instant of a renewal follows it")
  mutating func noticeAtRenewal() throws {
    try demo.buy("weekly")
    demo.pass(days: 5)
    try setPrice(2990, of: "weekly")
    demo.world.advance(to: day(7))
    #expect(demo.notifications().suffix(2) == ["DID_RENEW", "PRICE_INCREASE/ACCEPTED"])
    demo.world.advance(to: day(14))
    #expect(demo.notifications().last == "DID_RENEW")
    #expect(try demo.sold(demo.line().current).price == 2990)
  }

  // support.apple.com/109501; Advanced Commerce API: "Handling subscription price changes".
  @Test(
    "An increase needs consent above 50 percent and 5 dollars, 50 for a year",
    arguments: [
      ("gold", 14_990, false), ("gold", 14_991, true), ("monthly", 9990, false), ("news", 79_990, false),
      ("news", 79_991, true),
    ] as [(String, Int64, Bool)])
  mutating func threshold(product: String, price: Int64, needsConsent: Bool) throws {
    try demo.buy(product)
    try setPrice(price, of: product, ["notice": "0s"])
    #expect(
      demo.notifications().last == (needsConsent ? "PRICE_INCREASE/PENDING" : "PRICE_INCREASE/ACCEPTED"))
  }

  @Test("A second increase within a year needs consent")
  mutating func secondIncrease() throws {
    try demo.buy("monthly")
    try setPrice(5490, of: "monthly")
    demo.pass(days: 40)
    try setPrice(5990, of: "monthly")
    demo.world.advance(to: day(58))
    #expect(demo.notifications().last == "PRICE_INCREASE/PENDING")
    try demo.act(.priceConsent, ["transactionId": .string(String(demo.line().id)), "agreed": true])
    demo.pass(days: 1)
    #expect(demo.notifications().suffix(2) == ["PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
    #expect(try demo.sold(demo.line().current).price == 5990)
  }

  @Test("A price that returns to the old one cancels the increase")
  mutating func cancelled() throws {
    try demo.buy("monthly")
    try setPrice(6990, of: "monthly", ["needsConsent": true, "notice": "0s"])
    try setPrice(4990, of: "monthly")
    demo.pass(days: 31)
    #expect(try demo.sold(demo.line().current).price == 4990)
    #expect(demo.notifications().last == "DID_RENEW")
  }

  @Test(
    "A subscriber who takes a planned change back keeps the price of the running product",
    arguments: [true, false])
  mutating func planTakenBack(needsConsent: Bool) throws {
    try demo.buy("gold")
    try demo.buy("monthly")
    try setPrice(5990, of: "monthly", ["needsConsent": .bool(needsConsent), "notice": "0s"])
    let planned = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    #expect(planned["autoRenewProductId"] == "monthly" && planned["renewalPrice"] == 5990)
    try demo.buy("gold")
    #expect(demo.notifications().last == "DID_CHANGE_RENEWAL_PREF")
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    #expect(renewal["priceIncreaseStatus"] == nil && renewal["renewalPrice"] == 9990)
    demo.pass(days: 31)
    #expect(demo.notifications().last == "DID_RENEW")
    #expect(try demo.sold(demo.line().current).price == 9990)
  }

  @Test("Consent before the announcement is rejected")
  mutating func consentTooEarly() throws {
    let id = JSONValue.string(String(try demo.buy("monthly")))
    try setPrice(6990, of: "monthly", ["needsConsent": true])
    #expect(throws: ActionError.self) {
      try demo.act(.priceConsent, ["transactionId": id, "agreed": true])
    }
  }
}
