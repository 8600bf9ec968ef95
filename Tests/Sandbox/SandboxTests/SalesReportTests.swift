import AppStore
import AppStoreReports
import Bytes
import HTTP
import JSON
import Platform
import Testing

@testable import Sandbox

/// The reports of App Store Connect that the sandbox makes from its truth.
@Suite struct SalesReportTests {
  private var demo = DemoWorld()

  private func report(_ kind: AppStoreReport, _ day: String) throws -> [[String: String]] {
    let day = try #require(CalendarDay(day))
    let report = SalesReportWriter(world: demo.world, apps: [DemoWorld.app]).report(kind, on: day)
    #expect(report.columns == kind.columns)
    return report.rows.map { Dictionary(zip(report.columns, $0), uniquingKeysWith: { first, _ in first }) }
  }

  @Test("A charge and its refund are lines of their days in Pacific Time")
  mutating func chargeAndRefund() throws {
    // Midnight in UTC is the afternoon of the day before in California.
    let id = try demo.buy("monthly")
    demo.pass(days: 2)
    try demo.act(.refund, ["transactionId": .string(String(id))])
    let sold = try report(.subscriber, "2025-12-31")
    #expect(sold.count == 1)
    #expect(sold[0]["Customer Price"] == "4.99")
    #expect(sold[0]["Developer Proceeds"] == "3.49")
    #expect(sold[0]["Units"] == "1")
    #expect(sold[0]["Country"] == "US")
    let refunds = try report(.subscriber, "2026-01-02")
    #expect(refunds.map { $0["Customer Price"] } == ["-4.99"])
    #expect(refunds[0]["Refund"] == "Yes")
    #expect(refunds[0]["Purchase Date"] == "2025-12-31")
    #expect(try report(.subscriber, "2026-01-01").isEmpty)
    #expect(try report(.sales, "2026-01-02").map { $0["Units"] } == ["-1"])
    #expect(try report(.subscriptionEvent, "2026-01-02").map { $0["Event"] } == ["Refund"])
  }

  @Test("Equal sales are one line of the Sales report, and each is a line of the Subscriber report")
  mutating func aggregation() throws {
    for account in ["ann", "ben", "cleo"] { try demo.buy("monthly", account) }
    try demo.buy("coins", "ann")
    let sales = try report(.sales, "2025-12-31")
    #expect(sales.map { $0["Units"] } == ["3", "1"])
    #expect(sales.map { $0["SKU"] } == ["monthly", "coins"])
    #expect(sales.map { $0["Product Type Identifier"] } == ["IAY", "IA1"])
    let lines = try report(.subscriber, "2025-12-31")
    #expect(Set(lines.map { $0["Subscriber ID"] }).count == 3)
  }

  @Test("A life gives Apple's events on their days")
  mutating func events() throws {
    try demo.act(
      .offers,
      [
        "productId": "monthly", "id": "trial", "type": "INTRODUCTORY", "mode": "FREE_TRIAL", "period": "P1W",
      ])
    try demo.buy("monthly", offer: "trial")
    demo.pass(days: 10)
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 40)
    try demo.act(.billing, ["account": "ann", "fails": false])
    try demo.buy("gold")
    try demo.act(
      .autoRenew, ["transactionId": .string(String(try demo.line().current)), "enabled": false])
    demo.pass(days: 40)
    var events: [String] = []
    for day in 0..<100 {
      let date = CalendarDay("2025-12-31")!.advanced(by: Int64(day)).description
      events += try report(.subscriptionEvent, date).map { $0["Event"]! }
    }
    #expect(
      events == [
        "Start Introductory Offer", "Paid Subscription from Introductory Offer",
        "Billing Retry from Paid Subscription", "Renewal from Billing Retry", "Upgrade", "Cancel",
      ])
  }

  @Test("A payment in the grace period is reported on its day, although its period is dated back")
  mutating func paymentInGrace() throws {
    try demo.act(.gracePeriod, ["days": 16])
    try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 41)
    try demo.act(.billing, ["account": "ann", "fails": false])
    demo.pass(days: 2)
    let current = try demo.line().current
    #expect(try demo.sold(current).purchaseDate == day(31))
    #expect(
      try report(.subscriptionEvent, "2026-01-31").map { $0["Event"] } == [
        "Grace Period from Paid Subscription"
      ])
    #expect(try report(.subscriptionEvent, "2026-02-10").map { $0["Event"] } == ["Renewal from Grace Period"])
    for kind in [AppStoreReport.subscriber, .sales] {
      #expect(try report(kind, "2026-01-31").isEmpty)
      #expect(try report(kind, "2026-02-10").map { $0["Customer Price"] } == ["4.99"])
    }
  }

  @Test("The Subscription report counts what is in force at the end of the day, also of past days")
  mutating func stocks() throws {
    try demo.buy("monthly", "ann")
    try demo.buy("monthly", "ben")
    try demo.act(.billing, ["account": "ben", "fails": true])
    demo.pass(days: 45)
    let early = try report(.subscription, "2026-01-10")
    #expect(early.map { $0["Active Standard Price Subscriptions"] } == ["2"])
    let late = try report(.subscription, "2026-02-05")
    #expect(late.map { $0["Active Standard Price Subscriptions"] } == ["1"])
    #expect(late.map { $0["Billing Retry"] } == ["1"])
  }

  @Test("Charges after a year of paid service have 85 % of the price")
  mutating func afterOneYear() throws {
    try demo.buy("news")
    demo.pass(days: 366)
    let first = try report(.subscriber, "2025-12-31")
    #expect(first.map { $0["Developer Proceeds"] } == ["20.99"])
    let second = try report(.subscriber, "2026-12-31")
    #expect(second.map { $0["Proceeds Reason"] } == [rateAfterOneYear])
    #expect(second.map { $0["Developer Proceeds"] } == ["25.49"])
  }

  @Test("The days of an extension are no paid service")
  mutating func extensionsAreUnpaid() throws {
    let id = try demo.buy("monthly")
    for _ in 0..<2 { try demo.act(.extend, ["transactionId": .string(String(id)), "days": 45]) }
    demo.pass(days: 430)
    let early = try demo.sold(demo.line().current)
    #expect(early.purchaseDate > day(365) && !demo.world.isAfterOneYear(early))
    demo.pass(days: 62)
    let late = try demo.sold(demo.line().current)
    #expect(demo.world.isAfterOneYear(late))
  }

  @Test("The Finance report adds up a month of Apple's fiscal calendar")
  mutating func finance() throws {
    try demo.buy("monthly", "ann")
    demo.pass(days: 70)
    let month = try #require(FiscalMonth("2026-04"))
    let report = SalesReportWriter(world: demo.world, apps: [DemoWorld.app]).finance(of: month)
    #expect(report.rows.count == 1)
    #expect(report.value("Start Date", in: report.rows[0]) == "12/28/2025")
    #expect(report.value("Quantity", in: report.rows[0]) == "2")
    #expect(report.value("Extended Partner Share", in: report.rows[0]) == "6.98")
  }

  @Test("Faults change the lines of a report: missing, twice, a larger count, larger proceeds")
  mutating func faults() throws {
    for account in ["ann", "ben", "cleo"] { try demo.buy("monthly", account) }
    let writer = SalesReportWriter(world: demo.world, apps: [DemoWorld.app])
    let clean = writer.report(.subscriber, on: try #require(CalendarDay("2025-12-31")))
    func faulty(_ kind: String) throws -> TabularText {
      var faults = Faults()
      try faults.set(Parameters(["kind": .string(kind), "count": 1, "every": 2]))
      return faults.applied(to: clean, .subscriber)
    }
    #expect(try faulty("report-missing").rows == [clean.rows[0], clean.rows[2]])
    #expect(
      try faulty("report-doubled").rows == [clean.rows[0], clean.rows[1], clean.rows[1], clean.rows[2]])
    #expect(try faulty("report-count").value("Units", in: try faulty("report-count").rows[1]) == "2")
    let proceeds = try faulty("report-proceeds")
    #expect(proceeds.value("Developer Proceeds", in: proceeds.rows[1]) == "4.34")
    #expect(proceeds.rows[0] == clean.rows[0])
  }

  private static let tokenTime = DemoWorld.start

  private static func simulator() throws -> AppStoreSimulator {
    try AppStoreSimulator(apps: [DemoWorld.app], storage: .memory, now: { tokenTime })
  }

  private static func get(_ target: String, _ store: AppStoreSimulator, token: String? = nil) async
    -> HTTPResponse
  {
    var headers = HeaderFields([])
    if let token { headers.append(name: "authorization", value: "Bearer \(token)") }
    return await store.respond(to: HTTPRequest(method: "GET", target: target, headers: headers, body: []))
  }

  @Test("A tester gets the compressed report of a day that is over")
  func testerReports() async throws {
    let store = try Self.simulator()
    _ = try await store.perform(
      .purchases, Parameters(["app": "demo", "productId": "monthly", "account": "ann"]))
    let early = await Self.get("/sandbox/v1/reports/sales?date=2025-12-31", store)
    #expect(early.status == 400)
    try await store.advanceClock(to: DemoWorld.start.advanced(byMilliseconds: 86_400_000))
    let response = await Self.get("/sandbox/v1/reports/sales?date=2025-12-31&app=demo", store)
    #expect(response.headers["content-type"] == "application/a-gzip")
    let bytes = try response.body.withUnsafeBytes { try gunzip($0, limit: 100_000) }
    let report = TabularText(parsing: String(decoding: bytes, as: UTF8.self))
    #expect(report.rows.map { report.value("SKU", in: $0) } == ["monthly"])
    #expect(await Self.get("/sandbox/v1/reports/other?date=2025-12-31", store).status == 400)
    #expect(await Self.get("/sandbox/v1/reports/sales?date=today", store).status == 400)
    #expect(await Self.get("/sandbox/v1/reports/sales?date=2025-12-31&app=none", store).status == 400)
  }

  @Test(
    "The App Store Connect API rejects a call without a token, and names a filter that is missing or wrong",
    arguments: [
      ("", "vendorNumber"), ("filter[vendorNumber]=8", "reportType"),
      ("filter[vendorNumber]=8&filter[reportType]=SALES", "frequency"),
      ("filter[vendorNumber]=8&filter[reportType]=FINANCIAL", "reportType"),
      ("filter[vendorNumber]=8&filter[reportType]=SALES&filter[frequency]=WEEKLY", "frequency"),
      (
        "filter[vendorNumber]=8&filter[reportType]=SALES&filter[frequency]=DAILY&filter[reportSubType]=DETAILED",
        "reportSubType"
      ),
      (
        "filter[vendorNumber]=8&filter[reportType]=SALES&filter[frequency]=DAILY&filter[reportSubType]=SUMMARY",
        "reportDate"
      ),
    ])
  func connectErrors(_ query: String, _ parameter: String) async throws {
    let store = try Self.simulator()
    #expect(await Self.get("/v1/salesReports?\(query)", store).status == 401)
    let response = await Self.get("/v1/salesReports?\(query)", store, token: Self.token())
    #expect(response.status == 400)
    #expect(String(decoding: response.body, as: UTF8.self).contains("filter[\(parameter)]"))
  }

  @Test("The App Store Connect API has the report of a day from eight o'clock of the next one")
  func connectReports() async throws {
    let store = try Self.simulator()
    _ = try await store.perform(
      .purchases, Parameters(["app": "demo", "productId": "monthly", "account": "ann"]))
    let target =
      "/v1/salesReports?filter[vendorNumber]=8&filter[reportType]=SUBSCRIPTION&filter[frequency]=DAILY"
      + "&filter[reportSubType]=SUMMARY&filter[version]=1_3&filter[reportDate]=2025-12-31"
    let ready = try #require(Instant(rfc3339: "2026-01-01T16:00:00Z"))
    try await store.advanceClock(to: ready.advanced(byMilliseconds: -1))
    #expect(await Self.get(target, store, token: Self.token()).status == 404)
    try await store.advanceClock(to: ready)
    let response = await Self.get(target, store, token: Self.token())
    #expect(response.status == 200)
    #expect(response.body.starts(with: [0x1F, 0x8B]))
  }

  /// A token whose signature is not checked, because no key is registered.
  private static func token() -> String {
    let seconds = tokenTime.millisecondsSince1970 / 1000
    let parts = [
      #"{"alg":"ES256","kid":"KEY","typ":"JWT"}"#,
      #"{"iss":"issuer","iat":\#(seconds),"exp":\#(seconds + 600),"aud":"appstoreconnect-v1"}"#,
    ]
    return (parts.map { Base64.url.encode(Array($0.utf8)) } + ["AAAA"]).joined(separator: ".")
  }
}
