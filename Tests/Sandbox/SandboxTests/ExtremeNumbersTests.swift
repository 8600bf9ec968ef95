import AppStore
import AppStoreReports
import HTTP
import JSON
import Synchronization
import Testing

@testable import Sandbox

/// Numbers that no sum can hold: each request has an answer, because a trap would end the process with all its worlds.
@Suite("Extreme numbers")
struct ExtremeNumbersTests {
  private var demo = DemoWorld()
  private let store: AppStoreSimulator

  init() throws {
    store = try AppStoreSimulator(apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start })
  }

  @Test(
    "A reference with a number that counts nothing names nothing",
    arguments: [Int.min, -1, 0, 2, .max])
  mutating func references(number: Int) throws {
    try demo.buy("coins")
    #expect(demo.world.transaction(named: "ann/coins/1") != nil)
    #expect(demo.world.transaction(named: "ann/coins/\(number)") == nil)
    #expect(demo.world.askToBuyRequest(named: "ann/coins/\(number)") == nil)
  }

  @Test("A device check with an extreme time is rejected", arguments: [Int64.min, .max])
  func deviceCheck(time: Int64) async throws {
    let token = TestToken(changedClaims: ["iss": "TEAM123456"])
    let body: JSONObject = [
      "device_token": "cGhvbmU=", "transaction_id": "1", "timestamp": JSONValue(time),
    ]
    let response = await store.respond(
      to: token.request("POST", "/v1/validate_device_token", body, at: DemoWorld.start))
    #expect(response.status == 400)
    #expect(String(decoding: response.body, as: UTF8.self).hasSuffix("time stamp"))
  }

  @Test("A page token with an extreme time has expired")
  func pageToken() throws {
    let token = HistoryPageToken(index: 0, issued: Instant(millisecondsSince1970: .min), body: [:])
    #expect(throws: ServerAPIError.paginationTokenExpired) {
      try HistoryPageToken(token.text, body: [:], at: DemoWorld.start)
    }
  }

  @Test("The clock stops at the end of the year 9999")
  func latest() async throws {
    store.clock.set(to: SandboxClock.latest.advanced(byMilliseconds: -Instant.millisecondsPerDay))
    func post(_ path: String, _ body: String) async -> HTTPResponse {
      await store.respond(
        to: HTTPRequest(method: "POST", target: "/sandbox/v1/\(path)", body: Array(body.utf8)))
    }
    _ = await post("purchases", #"{"app": "demo", "productId": "monthly", "account": "ann"}"#)
    for target in [#"{"by": "2d"}"#, #"{"to": "10000-01-01T00:00:00Z"}"#, #"{"to": 253402300800000}"#] {
      #expect(await post("clock/advance", target).status == 400)
    }
    let refusal = await post("clock/advance", #"{"by": "2d"}"#)
    #expect(
      String(decoding: refusal.body, as: UTF8.self).contains("the clock stops at 9999-12-31T23:59:59.999Z"))
    #expect(await post("live", #"{"app": "demo", "customers": 1, "by": "2d"}"#).status == 400)
    #expect(await post("clock/advance", #"{"to": "9999-12-31T23:59:59.999Z"}"#).status == 200)
    #expect(await post("clock/advance", #"{"by": "1s"}"#).status == 400)
  }

  @Test("A fast clock stops at the end of the year 9999")
  func latestOfFastClock() {
    let machine = Mutex(DemoWorld.start)
    let clock = SandboxClock { machine.withLock { $0 } }
    clock.set(speed: 10_000_000)
    machine.withLock { $0 = $0.advanced(byMilliseconds: 100_000_000) }
    #expect(clock.now() == SandboxClock.latest)
    #expect(clock.milliseconds(until: SandboxClock.latest.advanced(byMilliseconds: 1)) == nil)
  }

  @Test("Prices of offers and lengths of months have limits")
  mutating func limits() throws {
    let offer: JSONObject = [
      "productId": "monthly", "id": "x", "type": "PROMOTIONAL", "mode": "PAY_UP_FRONT", "period": "P9999Y",
      "price": 1_000_000_001,
    ]
    #expect(throws: ActionError.self) { try demo.act(.offers, offer) }
    #expect(throws: ActionError.self) { try demo.act(.periods, ["month": "1000000w"]) }
    try demo.act(.periods, ["month": "366d"])
    var longest = offer
    longest["price"] = 1_000_000_000
    try demo.act(.offers, longest)
    try demo.buy("monthly")
    try demo.buy("monthly", offer: "x")
    demo.pass(days: 800)
    #expect(try demo.sold(demo.line().current).price == 1_000_000_000)
  }

  @Test("The refund of a part of the highest price of all seats is in the reports")
  mutating func seats() throws {
    try demo.act(.price, ["productId": "monthly", "price": 1_000_000_000])
    try demo.act(.storefront, ["account": "ann", "storefront": "KOR"])
    try demo.act(.purchases, ["productId": "monthly", "account": "ann", "seats": 10_000])
    let id = JSONValue.string(String(try demo.line().current))
    try demo.act(.refund, ["transactionId": id, "percent": 99])
    demo.pass(days: 60)
    let writer = SalesReportWriter(world: demo.world, apps: [DemoWorld.app])
    let report = writer.report(.sales, on: try #require(CalendarDay("2025-12-31")))
    let prices = report.rows.map { report.value("Customer Price", in: $0) }
    #expect(prices == ["1300000000.00", "-12870000000000.00"])
    let sums = writer.finance(of: try #require(FiscalMonth("2026-04")))
    #expect(!sums.rows.isEmpty)
  }

  @Test("The highest price of a StoreKit file has a sum of all seats in every currency")
  mutating func prices() throws {
    let price = try #require(StoreKitReader.thousandths("99999999.999"))
    let product = SandboxProduct(
      productId: "p", type: .autoRenewableSubscription, period: Period("P1M"), price: price)
    for storefront in Storefront.known {
      let converted = demo.world.converted(price, of: product, to: storefront)
      let tiers = [SeatPriceTier(price: converted, quantity: World.maxSeats)]
      #expect(tiers.averagePrice == converted)
    }
  }
}
