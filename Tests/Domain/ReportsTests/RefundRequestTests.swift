import AppStore
import Entitlements
import Reports
import Testing

/// Refund requests, by the day on which Apple asked about them.
@Suite struct RefundRequestTests {
  private static let payers: [CustomerFacts] = [
    // Declined on the 7th; asked again on the 10th, and granted on the 12th.
    World.facts(
      "R", [World.period("monthly", "10-05", "11-05").with { $0.revocationDate = World.day("10-12") }]),
    // Without a decision.
    World.facts("S", [World.period("weekly", "10-08", "10-15")]),
    // Granted on the 15th, and reversed on the 20th.
    World.facts(
      "T",
      [
        World.period("monthly", "10-08", "11-08").with {
          $0.details.refunds = [.init(date: World.day("10-15"), percentage: nil)]
          $0.details.reversals = [World.day("10-20")]
        }
      ]),
    // A family member.
    World.facts("U", [World.period("monthly", "10-05", "11-05").with { $0.ownership = .familyShared }]),
  ]

  private static let requests: [RefundRequest] = [
    request("R", "10-10", "LEGAL", declines: ["10-07"]),
    request("R", "10-06", answered: "10-06", declines: ["10-07"]),
    request("S", "10-09", declines: ["10-08"]),
    request("T", "10-14", answered: "10-14", declines: ["10-16"]),
    request("U", "10-06"),
    request("V", "10-06"),
  ]

  private static func request(
    _ line: String, _ day: String, _ reason: String = "OTHER", answered: String? = nil,
    declines: [String] = []
  ) -> RefundRequest {
    RefundRequest(
      line: line, transactionID: "\(line)0", reason: reason, askedAt: World.day(day),
      answeredAt: answered.map(World.day), declines: declines.map(World.day))
  }

  private func answer(
    at now: String, to end: String = "11-01", groupBy: [ReportQuery.Dimension] = []
  ) throws -> Answer {
    let postings = Self.payers.flatMap { facts in
      PayerPostings(facts, in: World.app, at: World.day(now), requests: Self.requests).postings
    }
    return try Answer(
      .refundRequests, "10-01", end, groupBy: groupBy, of: postings.map { ($0, $0.effectiveAt) })
  }

  @Test("The first decision after a request, and before the next one, decides it")
  func outcomes() throws {
    let october = try answer(at: "10-31")
    let names = october(
      "asked", "answered", "granted", "declined", "decided", "reversed", "open", on: "10-01")
    #expect(names == [4, 2, 2, 1, 3, 1, 1])
  }

  @Test("A request that is decided later is open as of an earlier day")
  func earlier() throws {
    let known = try answer(at: "10-31", to: "10-11")
    #expect(known("asked", "granted", "declined", "open", on: "10-01") == [3, 0, 1, 2])
    let early = try answer(at: "10-13")
    #expect(early("asked", "granted", "declined", "open", on: "10-01") == [3, 1, 1, 1])
  }

  @Test("Requests are grouped by Apple's reason, and by product")
  func groups() throws {
    let byReason = try answer(at: "10-31", groupBy: [.reason])
    #expect(byReason("asked", "granted", "declined", "open", on: "10-01", groups: ["LEGAL"]) == [1, 1, 0, 0])
    #expect(byReason("asked", "granted", "declined", "open", on: "10-01", groups: ["OTHER"]) == [3, 1, 1, 1])
    let byProduct = try answer(at: "10-31", groupBy: [.product])
    #expect(byProduct("asked", "open", on: "10-01", groups: ["weekly"]) == [1, 1])
  }

  @Test("The decision of a request in the future is derived when it is due")
  func due() {
    let found = PayerPostings(
      Self.payers[0], in: World.app, at: World.day("10-06"), requests: Self.requests)
    #expect(found.due == World.day("10-07"))
    #expect(found.postings.filter { $0.kind == .refundAsked }.count == 1)
  }

  @Test(
    "Auto-renew that is off from a refund request on is turned off by Apple; a day later, by the customer")
  func renewalOffByRequest() {
    func reasons(_ day: String) -> [String] {
      let facts = World.facts(
        "S", [World.period("monthly", "10-05", "11-05")],
        [World.info("10-11", "11-05") { $0.autoRenewStatus = .off }])
      let postings = PayerPostings(
        facts, in: World.app, at: World.day("10-31"), requests: [Self.request("S", day)]
      ).postings
      return postings.filter { $0.kind == .renewalTurnedOff }.map(\.reason)
    }
    #expect(reasons("10-11") == ["APPLE"])
    #expect(reasons("10-10") == [""])
  }

  @Test("A table beyond its limit of rows is refused")
  func rowLimit() throws {
    let query = ReportQuery(
      .subscriptions, from: World.reportDay("10-01"), to: World.reportDay("10-31"), by: .day)
    let sums = query.sums(
      of: World.postings(at: World.day("10-31")), closingAfter: ReportPolicy.standard.closeAfter)
    #expect(try ReportTable(query, sums, rowLimit: 30).rows.count == 30)
    #expect(throws: ReportTable.Failure.tooManyRows) { try ReportTable(query, sums, rowLimit: 29) }
  }
}
