import AppStore
import JSON
import Testing

@testable import Sandbox

/// The rates of Apple's sandbox and of TestFlight.
@Suite struct RenewalRateTests {
  private var demo = DemoWorld()

  /// Returns the length of the current period in seconds.
  private func length(of group: String) throws -> Int64 {
    let line = try demo.line("ann", group)
    return line.expiresDate.milliseconds(since: demo.world.now) / 1000
  }

  // App Store Connect Help: "Manage Sandbox Apple Account settings"; Apple: SKTestSession.TimeRate for grace and retry.
  @Test(
    "A tester account's rate sets the lengths of periods, grace period and billing retry",
    arguments: [
      ("3m", 180, 180, 2160), ("5m", 180, 300, 3600), ("15m", 300, 900, 10_800), ("30m", 600, 1800, 21_600),
      ("60m", 900, 3600, 43_200),
    ] as [(String, Int64, Int64, Int64)])
  mutating func rates(rate: String, week: Int64, month: Int64, year: Int64) throws {
    try demo.act(.gracePeriod, ["days": 16])
    try demo.act(.periods, ["account": "ann", "month": .string(rate)])
    try demo.buy("weekly")
    #expect(try length(of: "pro") == week)
    try demo.buy("news")
    #expect(try length(of: "news") == year)
    try demo.buy("gold")
    #expect(try length(of: "pro") == month)
    try demo.act(.billing, ["account": "ann", "fails": true])
    let end = try demo.line().expiresDate
    demo.world.advance(to: end)
    #expect(try demo.line().status == .grace(until: end.advanced(byMilliseconds: month * 500)))
    demo.pass(seconds: month / 2)
    #expect(try demo.line().status == .retry(until: end.advanced(byMilliseconds: month * 2000)))
    // Other accounts keep the rate of the world.
    try demo.buy("monthly", "bob")
    #expect(try demo.line("bob").expiresDate == demo.world.now.advanced(by: Period("P1M")!))
  }

  @Test("The grace period of a weekly subscription takes six sevenths of its period")
  mutating func weeklyGrace() throws {
    try demo.act(.gracePeriod, ["days": 16])
    try demo.act(.periods, ["month": "5m"])
    try demo.buy("weekly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    let end = try demo.line().expiresDate
    demo.world.advance(to: end)
    // 2 minutes 34 seconds (Apple: SKTestSession.TimeRate).
    #expect(try demo.line().status == .grace(until: end.advanced(byMilliseconds: 154_285)))
  }

  @Test("Charges precede the end of an accelerated period in proportion")
  mutating func accelerated() throws {
    demo.world.timing = RenewalTiming()
    try demo.act(.periods, ["month": "5m"])
    for number in 0..<20 {
      try demo.buy("weekly", "customer-\(number)")
      let line = try demo.line("customer-\(number)")
      #expect((0...10_000).contains(line.expiresDate.milliseconds(since: line.chargeDate)))
    }
  }

  // App Store Connect Help: "Testing subscriptions and in-app purchases in TestFlight".
  @Test(
    "In TestFlight every period takes a day and renews six times",
    arguments: ["weekly", "monthly", "news"])
  mutating func testFlight(product: String) throws {
    try demo.act(.periods, ["testFlight": true])
    try demo.buy(product)
    demo.pass(days: 30)
    let names = demo.notifications()
    #expect(names.first == "SUBSCRIBED/INITIAL_BUY" && names.last == "EXPIRED/VOLUNTARY")
    #expect(names.filter { $0 == "DID_RENEW" }.count == 6)
    let line = try demo.line("ann", product == "news" ? "news" : "pro")
    #expect(line.expiresDate == day(7) && !line.autoRenews)
  }

  @Test("A commitment keeps the rate at which it was sold")
  mutating func commitment() throws {
    try demo.act(.storefront, ["account": "ann", "storefront": "DEU"])
    try demo.buy("yearly", plan: .monthly)
    demo.pass(days: 40)
    try demo.act(.periods, ["account": "ann", "testFlight": true])
    demo.pass(days: 40)
    #expect(try demo.line().expiresDate == day(90))
    #expect(try demo.sold(demo.line().current).purchaseDate == day(59))
  }

  @Test("Charges fail in TestFlight only for an account with its own rate")
  mutating func testFlightBilling() throws {
    try demo.act(.periods, ["testFlight": true])
    try demo.buy("monthly")
    #expect(throws: ActionError.self) { try demo.act(.billing, ["account": "ann", "fails": true]) }
    try demo.act(.periods, ["account": "ann", "month": "5m"])
    try demo.act(.billing, ["account": "ann", "fails": true])
    #expect(throws: ActionError.self) { try demo.act(.periods, ["month": "5m", "testFlight": true]) }
  }
}
