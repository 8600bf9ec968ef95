import AppStore
import Entitlements
import Reports
import Testing

/// Definitions of parts: of what is owned, of what was lost early, of paid service and of refunds.
@Suite struct PartDefinitionTests {
  private let october = World.postings(at: World.day("10-31"))

  @Test("A subscription that began and ended in the bucket is lost early, and is no part of the churn rate")
  func earlyLost() throws {
    let churn = try Answer(.churnRate, "10-01", "11-01", of: october)
    // G began on 19 October, and was refunded on the 24th.
    #expect(churn("active_start", "left", "lost", "early_lost", on: "10-01") == [5, 2, 1, 1])
    let days = try Answer(.churnRate, "10-01", "11-01", by: .day, of: october)
    #expect(days("active_start", "left", "early_lost", on: "10-24") == [6, 1, 0])
  }

  @Test("A subscription that came back within the bucket is not lost early")
  func earlyReturn() throws {
    let facts = World.facts(
      "R",
      [
        World.period("weekly", "10-01", "10-08"), World.period("weekly", "10-12", "10-19"),
        World.period("weekly", "10-19", "10-26"), World.period("weekly", "10-26", "11-02"),
      ], [World.info("10-08", "10-08") { $0.isInBillingRetry = true }])
    let churn = try Answer(
      .churnRate, "10-01", "11-01", of: World.postings(at: World.day("10-31"), ["R": facts]))
    #expect(churn("early_lost", "active_end", on: "10-01") == [0, 1])
  }

  @Test(
    "Prices that no purchase has are as good as unknown, so sums do not overflow",
    arguments: [Int64.min, -1, .max])
  func impossiblePrices(price: Int64) throws {
    let facts = World.facts(
      "P",
      [
        World.period("yearly", "2024-10-15", "2025-10-15").with { $0.details.price = price },
        World.period("yearly", "2025-10-15", "2026-10-15").with { $0.details.price = price },
      ],
      [
        World.info("2026-01-01", "2026-10-15") { $0.details.renewalPrice = price },
        World.info("2026-09-20", "2026-10-15") { $0.autoRenewStatus = .off },
      ])
    let postings = World.postings(at: World.day("10-31"), ["P": facts]).map(\.posting)
    #expect(postings.allSatisfy { $0.amount == 0 })
    #expect(postings.count { $0.kind == .unpriced } == 2 && !postings.contains { $0.kind == .charge })
    #expect(postings.contains { $0.kind == .lapsedVoluntary })
  }

  @Test("A period that no retention has reached has no subscriptions that had time to")
  func impossibleAge() throws {
    let query = ReportQuery(
      .retention, from: World.reportDay("09-01"), to: World.reportDay("11-01"), by: .month)
    let column = try #require(query.report.columns.first { $0.name == "had_time" })
    let bucket = World.reportDay("09-01")
    for age in [Int64(37), .max] {
      let parts = query.postings(of: column, in: .init(bucket: bucket, age: age))
      let postings = World.postings(at: World.day("10-31")).map(\.posting)
      #expect(postings.contains { $0.kind == .joinedCohort && ReportDay($0.effectiveAt) >= bucket })
      #expect(postings.allSatisfy { parts.first?.selection.value(of: $0) == nil })
    }
  }

  @Test("The subscriptions that had time to reach a period add up also after an offer that was paid up front")
  func hadTimeAfterOffer() throws {
    let offer = World.period("yearly", "2024-01-10", "2024-07-10").with {
      ($0.offerType, $0.offerDiscountType) = (.offerCode, .payUpFront)
      $0.details.offerPeriod = "P6M"
    }
    let facts = World.facts(
      "P",
      [
        offer, World.period("yearly", "2024-07-10", "2025-07-10"),
        World.period("yearly", "2025-07-10", "07-10"),
      ])
    let postings = World.postings(at: World.day("2026-01-01"), ["P": facts])
    #expect(postings.contains { $0.posting.kind == .joinedCohort && $0.posting.reason == "P6M P1Y" })
    let retention = try Answer(.retention, "2024-01-01", "2026-01-01", of: postings)
    let query = ReportQuery(
      .retention, from: World.reportDay("2024-01-01"), to: World.reportDay("2026-01-01"), by: .month)
    let column = try #require(query.report.columns.first { $0.name == "had_time" })
    for (age, count) in [(1, 1), (2, 1), (3, 1), (4, 0)] as [(Int64, Int64)] {
      let row = ReportQuery.RowKey(bucket: World.reportDay("2024-01-01"), age: age)
      let sum = query.postings(of: column, in: row).reduce(0) { sum, part in
        sum + part.sign * postings.reduce(0) { $0 + (part.selection.value(of: $1.posting) ?? 0) }
      }
      #expect(sum == count && retention("had_time", on: "2024-01-01", age: age) == [count])
    }
  }

  @Test(
    "An offer that is paid up front has the length of the offer, also after an extension",
    arguments: [("P6M", 60_000), ("P1Y", 30_000), (nil, 30_000)])
  func upFront(period: String?, annual: Int64) throws {
    // 275 days: without the offer's period, the nearest length is a year.
    let bought = World.period("yearly", "01-10", "10-12").with {
      ($0.offerType, $0.offerDiscountType) = (.offerCode, .payUpFront)
      ($0.details.price, $0.details.offerPeriod) = (30_000, period)
    }
    let postings = World.postings(at: World.day("02-01"), ["P": World.facts("P", [bought])])
    let revenue = try Answer(.recurringRevenue, "01-01", "02-01", of: postings)
    #expect(revenue("new", "closing", on: "01-01", currency: "USD") == [annual, annual])
  }

  @Test("An extension makes no period longer in recurring revenue")
  func extended() throws {
    // 120 days: without the first end, the nearest length is three months.
    let bought = World.period("monthly", "01-10", "05-10").with {
      $0.details.firstExpiresDate = World.day("02-10")
    }
    let postings = World.postings(at: World.day("02-01"), ["P": World.facts("P", [bought])])
    let revenue = try Answer(.recurringRevenue, "01-01", "02-01", of: postings)
    #expect(revenue("new", "closing", on: "01-01", currency: "USD") == [119_880, 119_880])
  }

  @Test("A rate is that of the day, or of the seven days before")
  func rates() {
    let first = World.reportDay("10-01")
    let table = RateTable(
      [0, 4, 20].map { .init("EUR", to: "USD", from: first.advanced(by: $0), millionths: 1_000_000 + $0) })
    func converted(_ day: Int64) -> Int64? {
      let sum = ReportSum(
        kind: .charge, day: first.advanced(by: day), currency: "EUR",
        sums: ReportCell.Sums(amount: 1_000_000))
      return table.convert([sum], to: "USD").first { $0.currency == "USD" }?.sums.amount
    }
    #expect(
      [-1, 0, 3, 4, 11, 12, 19, 20, 27, 28].map(converted) == [
        nil, 1_000_000, 1_000_000, 1_000_004, 1_000_004, nil, nil, 1_000_020, 1_000_020, nil,
      ])
  }

  @Test("Payers are counted by the days of paid service until it is reset")
  func paidDays() throws {
    let postings = World.postings(at: World.day("12-31"), ["F": World.payers["F"]!])
    let names = PaidDays.allCases.map(\.column)
    func bands(_ day: String) throws -> [Int64] {
      let answer = try Answer(.paidYears, day, "2027-01-01", by: .day, of: postings)
      return names.flatMap { answer($0, on: day) }
    }
    #expect(try bands("2025-10-15") == [1, 0, 0, 0])
    #expect(try bands("2026-01-13") == [1, 0, 0, 0])
    #expect(try bands("2026-01-14") == [0, 1, 0, 0])
    #expect(try bands("2026-04-14") == [0, 0, 1, 0])
    #expect(try bands("10-14") == [0, 0, 1, 0])
    #expect(try bands("10-15") == [0, 0, 0, 1])
    #expect(try bands("12-14") == [0, 0, 0, 0])
  }

  @Test("A non-renewing subscription runs for the duration of the catalog, one after the other")
  func seasons() throws {
    let app = AppDefinition(
      id: "ocean-journal", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
      environments: [.production],
      products: [
        ProductDefinition(
          productID: "season", type: .nonRenewingSubscription, duration: Period(months: 1),
          entitlements: ["pro"])
      ])
    func season(_ start: String) -> TransactionFact {
      World.period("season", start, start).with {
        ($0.type, $0.expiresDate) = (.nonRenewingSubscription, nil)
      }
    }
    func running(_ facts: CustomerFacts, _ day: String) throws -> [Int64] {
      let postings = PayerPostings(facts, in: app, at: World.day("12-31")).postings
      return try Answer(
        .subscriptions, "09-01", "12-31", by: .day, of: postings.map { ($0, $0.effectiveAt) })(
          "season_running", "active", on: day)
    }
    let one = World.facts("S", [season("09-05")])
    #expect(try running(one, "09-05") == [1, 0])
    #expect(try running(one, "10-04") == [1, 0])
    #expect(try running(one, "10-05") == [0, 0])
    var two = one
    for fact in World.facts("T", [season("09-20")]).transactions { two.insert(fact) }
    #expect(try running(two, "09-25") == [1, 0])
    #expect(try running(two, "11-04") == [1, 0])
    #expect(try running(two, "11-05") == [0, 0])
  }

  @Test("Refunds for an issue with the app are counted apart, also after their reversal")
  func refundReasons() throws {
    let refunded = World.period("monthly", "10-05", "11-05").with {
      ($0.revocationDate, $0.revocationReason) = (World.day("10-10"), .appIssue)
    }
    let reversed = World.period("monthly", "10-05", "11-05").with {
      $0.details.refunds = [.init(date: World.day("10-10"), percentage: nil, isAppIssue: true)]
      $0.details.reversals = [World.day("10-20")]
    }
    for period in [refunded, reversed] {
      let postings = World.postings(at: World.day("10-31"), ["R": World.facts("R", [period])])
      let refunds = try Answer(.refunds, "10-01", "11-01", of: postings)
      #expect(refunds("refunds", "app_issue_refunds", on: "10-01", currency: "USD") == [1, 1])
      #expect(refunds("full", "app_issue_amount", on: "10-01", currency: "USD") == [-9_990, -9_990])
    }
    let other = try Answer(.refunds, "10-01", "11-01", of: october)
    #expect(other("refunds", "app_issue_refunds", on: "10-01", currency: "USD") == [1, 0])
  }

  @Test("Each of several reversed refunds of a period ends it and brings it back")
  func reversals() throws {
    let period = World.period("monthly", "10-05", "11-05").with {
      $0.details.refunds = ["10-10", "10-20"].map { .init(date: World.day($0), percentage: nil) }
      $0.details.reversals = [World.day("10-13"), World.day("10-23")]
    }
    func movements(of period: TransactionFact) throws -> Answer {
      let postings = World.postings(at: World.day("10-31"), ["R": World.facts("R", [period])])
      return try Answer(.movements, "10-01", "11-01", by: .day, of: postings)
    }
    let both = try movements(of: period)
    for day in ["10-10", "10-20"] { #expect(both("refunded_out", "active_end", on: day) == [1, 0]) }
    for day in ["10-13", "10-23"] { #expect(both("reversed_in", "active_end", on: day) == [1, 1]) }
    // Apple's notification of the first reversal is missing.
    let unknown = period.with { $0.details.reversals = [World.day("10-23")] }
    let one = try movements(of: unknown)
    #expect(one("refunded_out", "active_end", on: "10-20") == [0, 0])
    #expect(one("reversed_in", "active_end", on: "10-23") == [1, 1])
  }

  @Test("The expected revenue follows the announced price, and is 0 with auto-renew off")
  func expected() throws {
    let facts = World.facts(
      "P", [World.period("monthly", "09-05", "10-05"), World.period("monthly", "10-05", "11-05")],
      [
        World.info("09-06", "10-05") { $0.details.renewalPrice = 9_990 },
        World.info("10-06", "11-05") { $0.details.renewalPrice = 12_990 },
        World.info("10-20", "11-05") {
          ($0.details.renewalPrice, $0.autoRenewStatus) = (12_990, .off)
        },
      ])
    let app = World.app
    let postings = PayerPostings(facts, in: app, at: World.day("11-30")).postings.map { ($0, $0.effectiveAt) }
    let days = try Answer(.recurringRevenue, "09-01", "11-30", by: .day, of: postings)
    #expect(days("closing", "expected", on: "09-05", currency: "USD") == [119_880, 119_880])
    #expect(days("closing", "expected", on: "10-06", currency: "USD") == [119_880, 155_880])
    #expect(days("closing", "expected", on: "10-20", currency: "USD") == [119_880, 0])
    #expect(days("closing", "expected", on: "11-05", currency: "USD") == [0, 0])
    // F has turned renewal off.
    let world = try Answer(.recurringRevenue, "10-01", "10-02", by: .day, of: october)
    #expect(world("closing", "expected", on: "10-01", currency: "USD") == [539_510, 479_520])
  }

  @Test("A trial is expected to renew at the announced price for the period that the catalog states")
  func expectedOfTrial() throws {
    let app = AppDefinition(
      id: "ocean-journal", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
      environments: [.production],
      products: [
        ProductDefinition(
          productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro",
          accessLevels: ["pro": .full],
          price: SubscriptionPrice(milliunits: 9_990, currency: "USD", period: Period(months: 1)))
      ])
    let facts = World.facts(
      "T", [World.trial("monthly", "10-01", "10-08")],
      [
        World.info("10-01", "10-08") {
          ($0.details.renewalPrice, $0.details.currency) = (9_990, "USD")
        }
      ])
    func values(_ app: AppDefinition) throws -> [Int64] {
      let postings = PayerPostings(facts, in: app, at: World.day("10-07")).postings.map {
        ($0, $0.effectiveAt)
      }
      return try Answer(.recurringRevenue, "10-01", "10-08", by: .day, of: postings)(
        "closing", "expected", "active", on: "10-02", currency: "USD")
    }
    #expect(try values(app) == [0, 119_880, 0])
    // The length of the trial is not that of the product's periods.
    #expect(try values(World.app) == [0, 0, 0])
  }

  @Test("Ends are counted by what preceded them and by the time of the cancellation")
  func contexts() throws {
    let churn = try Answer(.churnReasons, "10-01", "11-01", of: october)
    // D failed to pay; F had turned renewal off after 340 days.
    #expect(churn("after_failed_payment", "after_price_increase", on: "10-01") == [1, 0])
    #expect(churn("cancelled_after_90_to_364_days", "cancelled_after_0_days", on: "10-01") == [1, 0])
    let facts = World.facts(
      "P", [World.period("monthly", "09-05", "10-05")],
      [
        World.info("09-06", "10-05") {
          ($0.priceIncreaseStatus, $0.autoRenewProductID) = (.pending, "weekly")
        },
        World.info("09-12", "10-05") { $0.autoRenewStatus = .off },
      ])
    let other = try Answer(
      .churnReasons, "10-01", "11-01", of: World.postings(at: World.day("10-31"), ["P": facts]))
    #expect(other("lapsed", "cancelled", "cancelled_after_7_to_29_days", on: "10-01") == [1, 1, 1])
    #expect(other("after_price_increase", "after_planned_downgrade", on: "10-01") == [1, 1])
  }

  @Test("A non-consumable is not owned between a refund and its reversal")
  func reversedRefundOfOwned() throws {
    let bought = World.period("archive", "10-05", "10-05").with {
      ($0.type, $0.expiresDate) = (.nonConsumable, nil)
      $0.details.refunds = [.init(date: World.day("10-10"), percentage: nil)]
      $0.details.reversals = [World.day("10-20")]
    }
    let postings = World.postings(at: World.day("10-31"), ["N": World.facts("N", [bought])])
    let days = try Answer(.subscriptions, "10-01", "11-01", by: .day, of: postings)
    #expect(
      ["10-05", "10-10", "10-19", "10-20"].flatMap { days("non_consumable_owned", on: $0) } == [1, 0, 0, 1])
  }
}
