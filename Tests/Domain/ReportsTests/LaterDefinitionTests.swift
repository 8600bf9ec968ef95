import AppStore
import Entitlements
import Reports
import Testing

/// Definitions of what changes after a payment: refunds that are reversed, owners, plans, cohorts and rates.
@Suite struct LaterDefinitionTests {
  private let october = World.postings(at: World.day("10-31"))

  private func days(
    _ name: Report.Name, _ facts: CustomerFacts, app: AppDefinition = World.app,
    claims: [String: PurchaseClaims] = [:]
  ) throws -> Answer {
    let postings = PayerPostings(facts, in: app, at: World.day("10-31"), claims: claims).postings
      .map { ($0, $0.effectiveAt) }
    return try Answer(name, "09-01", "11-01", by: .day, of: postings)
  }

  @Test("A trial that was revoked and given back is a trial again, and never was active")
  func reversalOfTrial() throws {
    let trial = World.trial("monthly", "10-05", "10-19").with {
      $0.details.refunds = [.init(date: World.day("10-10"), percentage: nil)]
      $0.details.reversals = [World.day("10-13")]
    }
    let facts = World.facts("R", [trial, World.period("monthly", "10-19", "11-19")])
    let movements = try days(.movements, facts)
    #expect(movements("trial_refunded", "refunded_out", "in_trial_end", on: "10-10") == [1, 0, 0])
    #expect(movements("trial_refunded", "reversed_in", "in_trial_end", on: "10-13") == [-1, 0, 1])
    #expect(movements("converted", "active_start", "active_end", on: "10-19") == [1, 0, 1])
    let trials = try days(.trials, facts)
    #expect(trials("started", "converted", "ended", "revoked", "running", on: "10-05") == [1, 1, 1, 0, 0])
  }

  @Test("A reversed refund leaves the refund on its day and comes back on the day of the reversal")
  func reversal() throws {
    let period = World.period("monthly", "10-05", "11-05").with {
      $0.details.refunds = [.init(date: World.day("10-10"), percentage: nil)]
      $0.details.reversals = [World.day("10-20")]
    }
    let facts = World.facts("R", [period])
    let movements = try days(.movements, facts)
    #expect(movements("refunded_out", "active_end", on: "10-10") == [1, 0])
    #expect(movements("reversed_in", "resubscribed", "active_end", on: "10-20") == [1, 0, 1])
    let revenue = try days(.recurringRevenue, facts)
    #expect(revenue("churn_refund", "closing", on: "10-10", currency: "USD") == [-119_880, 0])
    #expect(revenue("reversed", "closing", on: "10-20", currency: "USD") == [119_880, 119_880])
    let money = try days(.revenue, facts)
    #expect(money("refunds", "net", on: "10-10", currency: "USD") == [-9_990, -9_990])
    #expect(money("reversals", "net", on: "10-20", currency: "USD") == [9_990, 9_990])
    let refunds = try Answer(
      .refunds, "10-01", "11-01",
      of: PayerPostings(facts, in: World.app, at: World.day("10-31")).postings.map { ($0, $0.effectiveAt) })
    #expect(refunds("refunds", "reversals", "refunded_purchases", on: "10-01", currency: "USD") == [1, 1, 0])
  }

  @Test("A refund that is reversed after the period ended returns only the money")
  func lateReversal() throws {
    let facts = World.facts(
      "R",
      [
        World.period("monthly", "09-05", "10-05").with {
          $0.details.refunds = [.init(date: World.day("09-10"), percentage: 50_000)]
          $0.details.reversals = [World.day("10-20")]
        }
      ])
    #expect(try days(.movements, facts)("reversed_in", "active_end", on: "10-20") == [0, 0])
    #expect(try days(.revenue, facts)("reversals", on: "10-20", currency: "USD") == [4_995])
  }

  @Test("Purchases without an owner are counted until a customer claims them")
  func unclaimed() throws {
    let facts = World.payers["J"]!
    #expect(try days(.subscriptions, facts)("unclaimed_active", on: "10-31") == [1])
    let claims = PurchaseClaims([(gained: true, at: World.day("10-30"))])
    let answer = try days(.subscriptions, facts, claims: ["J": claims])
    #expect(answer("active", "unclaimed_active", on: "10-29") == [1, 1])
    #expect(answer("active", "unclaimed_active", on: "10-30") == [1, 0])
    let owned = try days(.subscriptions, facts, claims: ["J": PurchaseClaims([(gained: true, at: nil)])])
    #expect(owned("active", "unclaimed_active", on: "10-28") == [1, 0])
    let moved = PurchaseClaims([
      (gained: true, at: nil), (gained: false, at: World.day("10-29")),
      (gained: true, at: World.day("10-29")),
    ])
    #expect(try days(.subscriptions, facts, claims: ["J": moved])("unclaimed_active", on: "10-29") == [0])
  }

  @Test("An unanswered price increase and a planned downgrade are parts of active until the period ends")
  func plans() throws {
    let facts = World.facts(
      "P",
      [World.period("monthly", "10-01", "10-20"), World.period("weekly", "10-20", "10-27")],
      [
        World.info("10-02", "10-20") { $0.priceIncreaseStatus = .pending },
        World.info("10-05", "10-20") {
          $0.priceIncreaseStatus = .accepted
          $0.autoRenewProductID = "weekly"
        },
        World.info("10-20", "10-27") { $0.autoRenewProductID = "weekly" },
      ])
    let answer = try days(.subscriptions, facts)
    #expect(answer("consent_pending", "pending_downgrade", on: "10-04") == [1, 0])
    #expect(answer("consent_pending", "pending_downgrade", on: "10-19") == [0, 1])
    #expect(answer("active", "pending_downgrade", on: "10-20") == [1, 0])
    let movements = try days(.movements, facts)
    #expect(movements("downgrade_requested", "downgraded", on: "10-05") == [1, 0])
    #expect(movements("downgrade_requested", "downgraded", on: "10-20") == [0, 1])
  }

  @Test("Another product of the same level that is planned is no downgrade, and the plan can be taken back")
  func plannedCrossgrade() throws {
    let facts = World.facts(
      "P", [World.period("monthly", "10-01", "11-01")],
      [
        World.info("10-05", "11-01") { $0.autoRenewProductID = "yearly" },
        World.info("10-08", "11-01") { $0.autoRenewProductID = "monthly" },
      ])
    let movements = try days(.movements, facts)
    #expect(movements("crossgrade_requested", "crossgrade_withdrawn", on: "10-05") == [1, 0])
    #expect(movements("crossgrade_requested", "crossgrade_withdrawn", on: "10-08") == [0, 1])
    #expect(movements("downgrade_requested", "crossgraded", on: "10-05") == [0, 0])
    #expect(try days(.subscriptions, facts)("active", "pending_downgrade", on: "10-06") == [1, 0])
  }

  @Test("Renewal that is turned off after an early charge is a risk of the running period")
  func earlyOff() throws {
    let facts = World.facts(
      "Q", [World.period("monthly", "09-10", "10-10"), World.period("monthly", "10-10", "11-10")],
      [World.info("10-09", "11-10") { $0.autoRenewStatus = .off }])
    #expect(try days(.subscriptions, facts)("active", "at_risk", on: "10-09") == [1, 1])
    #expect(try days(.subscriptions, facts)("active", "at_risk", on: "10-10") == [1, 1])
    #expect(try days(.movements, facts)("renewal_turned_off", on: "10-09") == [1])
  }

  @Test("No consent is pending after the next period is charged")
  func earlyRenewal() throws {
    let facts = World.facts(
      "Q", [World.period("monthly", "09-10", "10-10"), World.period("monthly", "10-10", "11-10")],
      [
        // A lower price takes the increase back without a notification.
        World.info("10-01", "10-10") { $0.priceIncreaseStatus = .pending },
        World.info("10-09", "11-10") { _ in },
      ])
    #expect(try days(.subscriptions, facts)("active", "consent_pending", on: "10-08") == [1, 1])
    #expect(try days(.subscriptions, facts)("active", "consent_pending", on: "10-09") == [1, 0])
  }

  @Test("A downgrade that is planned after an early charge is pending in the running period")
  func earlyPlan() throws {
    let facts = World.facts(
      "Q", [World.period("premium", "09-10", "10-10"), World.period("premium", "10-10", "11-10")],
      [World.info("10-09", "11-10") { $0.autoRenewProductID = "monthly" }])
    #expect(try days(.subscriptions, facts)("active", "pending_downgrade", on: "10-09") == [1, 1])
    #expect(try days(.subscriptions, facts)("active", "pending_downgrade", on: "10-10") == [1, 1])
    #expect(try days(.movements, facts)("downgrade_requested", on: "10-09") == [1])
    #expect(try days(.movements, facts)("downgrade_requested", on: "10-10") == [0])
  }

  @Test(
    "A plan after the next period, which is charged already, is another plan than that of the next period",
    arguments: [
      ("premium", "monthly", "weekly", "downgrade"), ("monthly", "yearly", "monthly", "crossgrade"),
    ])
  func secondPlan(running: String, next: String, planned: String, kind: String) throws {
    let facts = World.facts(
      "Q", [World.period(running, "09-10", "10-10"), World.period(next, "10-10", "11-10")],
      [
        World.info("10-01", "10-10") { $0.autoRenewProductID = next },
        World.info("10-09", "11-10") { $0.autoRenewProductID = planned },
      ])
    let movements = try days(.movements, facts)
    for day in ["10-01", "10-09"] {
      #expect(movements("\(kind)_requested", "\(kind)_withdrawn", on: day) == [1, 0])
    }
    #expect(movements("\(kind)_requested", "\(kind)_withdrawn", "\(kind)d", on: "10-10") == [0, 0, 1])
  }

  @Test("A payment in the grace period that is dated back leaves the old price in force until it is made")
  func gracePayment() throws {
    let facts = World.facts(
      "S", [World.period("monthly", "09-10", "10-10"), World.period("premium", "10-10", "11-10")],
      [
        World.info("10-10", "10-10") {
          $0.isInBillingRetry = true
          $0.gracePeriodExpiresDate = World.day("10-26")
        },
        World.info("10-14", "11-10") { _ in },
      ])
    let revenue = try days(.recurringRevenue, facts)
    #expect(revenue("closing", on: "10-13", currency: "USD") == [119_880])
    #expect(revenue("expansion", "closing", on: "10-14", currency: "USD") == [60_000, 179_880])
    #expect(try days(.subscriptions, facts)("active", "in_grace", on: "10-13") == [1, 1])
  }

  @Test("Another product in the grace period continues the subscription")
  func upgradeInGrace() throws {
    let facts = World.facts(
      "S",
      [
        World.period("monthly", "09-10", "10-10"),
        World.period("premium", "10-14", "11-14").with { $0.details.transactionReason = .purchase },
      ],
      [
        World.info("10-10", "10-10") {
          $0.isInBillingRetry = true
          $0.gracePeriodExpiresDate = World.day("10-26")
        }
      ])
    let movements = try days(.movements, facts)
    #expect(
      movements("upgraded", "resubscribed", "lapsed_billing", "active_end", on: "10-14") == [1, 0, 0, 1])
  }

  @Test("A change of product within trials is a movement of the trial")
  func trialChange() throws {
    let facts = World.facts(
      "T",
      [
        World.trial("monthly", "10-01", "10-08").with { $0.isUpgraded = true },
        World.trial("premium", "10-03", "10-17"),
      ])
    let movements = try days(.movements, facts)
    #expect(movements("upgraded", "trial_started", "in_trial_end", on: "10-03") == [1, 0, 1])
  }

  @Test(
    "Retention by the calendar counts what is active at the end of each month; that of payers includes returns"
  )
  func retention() throws {
    let months = try Answer(.retentionByMonth, "09-01", "11-01", groupBy: [.product], of: october)
    // A, D, E and K; D was in billing retry, E changed its product.
    #expect(months("active", "subscriptions", on: "09-01", age: 0, groups: ["monthly"]) == [4, 4])
    #expect(months("active", "subscriptions", on: "09-01", age: 1, groups: ["monthly"]) == [4, 4])
    let all = try Answer(.retentionOfPayers, "06-01", "11-01", of: october)
    // H paid in June, left in July and is back in October.
    #expect(all("active", "payers", on: "06-01", age: 0) == [1, 1])
    #expect(all("active", "payers", on: "06-01", age: 1) == [0, 1])
    #expect(all("active", "payers", on: "06-01", age: 4) == [1, 1])
    let returned = try Answer(.retentionByMonth, "06-01", "11-01", of: october)
    #expect(returned("active", "subscriptions", on: "06-01", age: 4) == [0, 1])
    // G left in the month of its start.
    #expect(returned("active", "subscriptions", on: "10-01", age: 0) == [3, 4])
  }

  @Test("Churn rates and net revenue retention are of the subscriptions of the opening")
  func openings() throws {
    let churn = try Answer(.churnRate, "10-01", "11-01", of: october)
    #expect(churn("active_start", "left", "lost", on: "10-01") == [5, 2, 1])
    let revenue = try Answer(.recurringRevenue, "10-01", "11-01", of: october)
    #expect(revenue("opening", "retained", on: "10-01", currency: "USD") == [539_510, 539_520])
    #expect(revenue("exchange", on: "10-01", currency: "USD") == [0])
  }

  @Test("Converted recurring revenue has the rate of the last charge; other rates are no movement")
  func conversion() throws {
    let app = World.app(
      reports: ReportPolicy(rates: [
        ExchangeRate(
          currency: "EUR", target: "USD", from: World.reportDay("09-01").start, millionths: 1_000_000)
      ]))
    let facts = World.facts(
      "E",
      [
        World.german(World.period("monthly", "09-05", "10-05")),
        World.german(World.period("monthly", "10-05", "11-05")),
      ], [World.info("10-20", "11-05") { $0.autoRenewStatus = .off }])
    let postings = PayerPostings(facts, in: app, at: World.day("11-30")).postings.map { ($0, $0.effectiveAt) }
    var query = ReportQuery(
      .recurringRevenue, from: World.reportDay("09-01"), to: World.reportDay("12-01"), by: .month)
    query.isConverted = true
    let rates = RateTable(
      [("09-05", 1_100_000), ("10-05", 1_200_000), ("11-05", 1_300_000)].map { day, millionths in
        RateTable.Rate("EUR", to: "USD", from: World.reportDay(day), millionths: millionths)
      })
    let sums = query.sums(of: postings, closingAfter: ReportPolicy.standard.closeAfter)
    let rows = try ReportTable(query, rates.convert(sums, to: "USD")).rows
    func values(_ bucket: String) -> [String: Int64] {
      let row = rows.first { $0.bucket == World.reportDay(bucket) && $0.currency == "USD" }
      return Dictionary(
        uniqueKeysWithValues: zip(query.report.columns.map(\.name), row?.values ?? []).map { ($0, $1) })
    }
    #expect(rows.allSatisfy { $0.currency == "USD" })
    #expect([values("09-01")["new"], values("09-01")["closing"]] == [131_868, 131_868])
    #expect([values("10-01")["opening"], values("10-01")["closing"]] == [131_868, 143_856])
    #expect([values("10-01")["exchange"], values("10-01")["expansion"]] == [11_988, 0])
    #expect([values("11-01")["churn_voluntary"], values("11-01")["closing"]] == [-143_856, 0])
    #expect(values("11-01")["exchange"] == 0)
  }
}
