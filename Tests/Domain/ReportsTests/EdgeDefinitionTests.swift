import AppStore
import Entitlements
import Reports
import Testing

/// The definitions at leap days, month ends and midnight, and with other prices and storefronts.
@Suite struct EdgeDefinitionTests {
  private func answer(
    _ name: Report.Name, _ from: String, _ to: String, by granularity: Granularity = .month,
    groupBy: [ReportQuery.Dimension] = [], isOfProceeds: Bool = false, at now: String,
    _ periods: [TransactionFact], _ infos: [RenewalFact] = []
  ) throws -> Answer {
    let postings = World.postings(at: World.day(now), ["P": World.facts("P", periods, infos)])
    return try Answer(
      name, from, to, by: granularity, groupBy: groupBy, isOfProceeds: isOfProceeds, of: postings)
  }

  @Test("A year of paid service has 365 days: with a leap day, it is reached before the renewal")
  func leapYear() throws {
    let leap = try answer(
      .paidYears, "2028-02-28", "2028-03-02", by: .day, at: "2028-03-02",
      [
        World.period("yearly", "2027-03-01", "2028-03-01"),
        World.period("yearly", "2028-03-01", "2029-03-01"),
      ])
    #expect(leap("year_reached", "past_one_year", on: "2028-02-28") == [0, 0])
    #expect(leap("year_reached", "past_one_year", "charges_at_85", on: "2028-02-29") == [1, 1, 0])
    #expect(leap("first_charge_at_85", "past_one_year", "charges_at_85", on: "2028-03-01") == [1, 1, 1])
    let other = try answer(
      .paidYears, "2027-02-28", "2027-03-02", by: .day, at: "2027-03-02",
      [
        World.period("yearly", "2026-03-01", "2027-03-01"),
        World.period("yearly", "2027-03-01", "2028-03-01"),
      ])
    #expect(other("year_reached", "past_one_year", on: "2027-02-28") == [0, 0])
    #expect(other("year_reached", "first_charge_at_85", "charges_at_85", on: "2027-03-01") == [1, 1, 1])
  }

  @Test("The period after one from the last day of January begins on the last day of February")
  func monthEnd() throws {
    let periods = [
      World.period("monthly", "2027-01-31", "2027-02-28"),
      World.period("monthly", "2027-02-28", "2027-03-31"),
      World.period("monthly", "2027-03-31", "2027-04-30"),
    ]
    func reached(_ age: Int64, before end: String) throws -> [Int64] {
      try answer(.retention, "2027-01-01", end, at: "2027-04-01", periods)(
        "reached", "had_time", on: "2027-01-01", age: age)
    }
    #expect(try reached(2, before: "2027-02-28") == [0, 0])
    #expect(try reached(2, before: "2027-03-01") == [1, 1])
    #expect(try reached(3, before: "2027-03-31") == [0, 0])
    #expect(try reached(3, before: "2027-04-01") == [1, 1])
  }

  @Test("A prorated refund is Apple's part of the price, and so are its proceeds")
  func prorated() throws {
    let refunded = World.period("monthly", "10-05", "11-05").with {
      ($0.revocationDate, $0.details.revocationPercentage) = (World.day("10-20"), 33_333)
    }
    // 9.99 x 33.333 % is 3.32996667.
    let refunds = try answer(.refunds, "10-01", "11-01", at: "10-31", [refunded])
    #expect(refunds("amount", "prorated", "full", on: "10-01", currency: "USD") == [-3_330, -3_330, 0])
    let unstated = refunded.with {
      ($0.revocationType, $0.details.revocationPercentage) = (.refundProrated, nil)
    }
    let ofUnstated = try answer(.refunds, "10-01", "11-01", at: "10-31", [unstated])
    #expect(ofUnstated("prorated", "full", on: "10-01", currency: "USD") == [-9_990, 0])
    let proceeds = try answer(
      .revenue, "10-01", "11-01", isOfProceeds: true, at: "10-31", [refunded])
    #expect(proceeds("gross", "refunds", "net", on: "10-01", currency: "USD") == [6_993, -2_331, 4_662])
  }

  @Test("Another storefront moves the subscription, and its revenue from one currency to the other")
  func storefrontChange() throws {
    let periods = [
      World.period("monthly", "10-05", "11-05"), World.german(World.period("monthly", "11-05", "12-05")),
    ]
    let movements = try answer(
      .movements, "11-01", "12-01", groupBy: [.storefront], at: "11-30", periods)
    let names = { (storefront: String) in
      movements("active_start", "moved", "renewed", "active_end", on: "11-01", groups: [storefront])
    }
    #expect(names("USA") == [1, -1, 0, 0])
    #expect(names("DEU") == [0, 1, 1, 1])
    let revenue = try answer(.recurringRevenue, "11-01", "12-01", at: "11-30", periods)
    #expect(
      revenue("opening", "contraction", "closing", on: "11-01", currency: "USD") == [119_880, -119_880, 0])
    #expect(
      revenue("opening", "expansion", "closing", on: "11-01", currency: "EUR") == [0, 119_880, 119_880])
  }

  @Test("A payer of two currencies counts in each, from the month of the first charge in it")
  func lifetimeValueOfTwoCurrencies() throws {
    let mover = World.facts(
      "M",
      [World.period("monthly", "09-05", "10-05"), World.german(World.period("monthly", "10-05", "11-05"))])
    let other = World.facts("O", [World.german(World.period("monthly", "09-10", "10-10"))])
    let postings = World.postings(at: World.day("10-31"), ["M": mover, "O": other])
    let total = try Answer(.lifetimeValue, "09-01", "11-01", of: postings)
    let values = { (currency: String, age: Int64) in
      total("net", "payers", on: "09-01", currency: currency, age: age)
    }
    #expect([values("USD", 0), values("USD", 1)] == [[9_990, 1], [9_990, 1]])
    #expect([values("EUR", 0), values("EUR", 1)] == [[9_990, 1], [19_980, 2]])
    let groups = try Answer(.lifetimeValue, "09-01", "11-01", groupBy: [.storefront], of: postings)
    let ofGroup = { (storefront: String, age: Int64) in
      groups("net", "payers", on: "09-01", currency: "EUR", age: age, groups: [storefront])
    }
    #expect([ofGroup("USA", 0), ofGroup("USA", 1)] == [[0, 0], [9_990, 1]])
    #expect([ofGroup("DEU", 0), ofGroup("DEU", 1)] == [[9_990, 1], [9_990, 1]])
    // Before the first euros of the mover, there is no row.
    #expect(groups.rows.count { $0.currency == "EUR" } == 3)
  }

  @Test("A paid offer of several periods is a start; the standard price and a later one are expansions")
  func offerAndPriceChange() throws {
    let offer = [("09-01", "09-08"), ("09-08", "09-15"), ("09-15", "09-22")].map { start, end in
      World.period("weekly", start, end).with {
        ($0.offerType, $0.offerDiscountType, $0.details.price) = (.introductory, .payAsYouGo, 490)
      }
    }
    let periods =
      offer + [
        World.period("weekly", "09-22", "09-29"),
        World.period("weekly", "09-29", "10-06").with { $0.details.price = 3_990 },
      ]
    let movements = try answer(.movements, "09-01", "10-01", at: "09-30", periods)
    #expect(
      movements("started_paid", "renewed", "intro_to_regular", "moved", "active_end", on: "09-01")
        == [1, 4, 1, 0, 1])
    // 52 weeks of 0.49, then 2.50 more, then 1.00 more.
    let revenue = try answer(.recurringRevenue, "09-01", "10-01", at: "09-30", periods)
    #expect(
      revenue("new", "expansion", "closing", on: "09-01", currency: "USD") == [25_480, 182_000, 207_480])
    let causes = try answer(
      .recurringChanges, "09-01", "10-01", groupBy: [.reason], at: "09-30", periods)
    let expansion = { (cause: String) in
      causes("expansion", "expanded", on: "09-01", currency: "USD", groups: [cause])
    }
    #expect(expansion("OFFER_ENDED") == [130_000, 1])
    #expect(expansion("PRICE_INCREASE") == [52_000, 1])
  }

  @Test(
    "A planned product is renewed with a charge of the last day of the period, and a purchased one is not",
    arguments: [(TransactionReason.renewal, Int64(1)), (.purchase, 0)])
  func earlyChangeOfProduct(reason: TransactionReason, renewed: Int64) throws {
    let periods = [
      World.period("monthly", "09-05", "10-05"),
      World.period("weekly", "10-05", "10-12").with {
        $0.purchaseDate = World.day("10-05").advanced(byMilliseconds: -20 * 3_600_000)
        $0.details.transactionReason = reason
      },
    ]
    let movements = try answer(.movements, "10-01", "11-01", by: .day, at: "10-10", periods)
    #expect(movements("downgraded", "renewed", "active_end", on: "10-04") == [1, renewed, 1])
  }

  @Test("A renewal that was refunded before it began leaves the running period, which ends without a renewal")
  func refundBeforeStart() throws {
    let periods = [
      World.period("monthly", "09-05", "10-05"),
      World.period("monthly", "10-05", "11-05").with {
        ($0.signedDate, $0.revocationDate) = (World.day("10-04"), World.day("10-04"))
      },
    ]
    let infos = [
      World.info("10-04", "11-05") { ($0.autoRenewStatus, $0.expirationIntent) = (.off, .other) }
    ]
    let movements = try answer(.movements, "10-01", "11-01", by: .day, at: "10-31", periods, infos)
    #expect(movements("refunded_out", "lapsed_other", "active_end", on: "10-04") == [0, 0, 1])
    #expect(movements("refunded_out", "lapsed_other", "active_end", on: "10-05") == [0, 1, 0])
    let churn = try answer(.churnReasons, "10-01", "11-01", at: "10-31", periods, infos)
    #expect(churn("lapsed", "other", "refund", on: "10-01") == [1, 1, 0])
    let money = try answer(.revenue, "10-01", "11-01", by: .day, at: "10-31", periods, infos)
    #expect(money("refunds", on: "10-04", currency: "USD") == [-9_990])
  }

  @Test("The expected revenue of an offer that is paid up front is for the time of the offer")
  func expectedOffer() throws {
    let infos = [
      World.info("2026-03-01", "2026-10-15") { info in
        (info.details.renewalPrice, info.details.currency) = (29_990, "USD")
        (info.details.offerDiscountType, info.details.offerPeriod) = (.payUpFront, "P6M")
      }
    ]
    let revenue = try answer(
      .recurringRevenue, "2026-03-01", "2026-03-02", by: .day, at: "2026-03-31",
      [World.period("yearly", "2025-10-15", "2026-10-15")], infos)
    #expect(revenue("closing", "expected", on: "2026-03-01", currency: "USD") == [59_990, 59_980])
  }

  @Test("The price that Apple announced with an early charge is expected after the period was extended, too")
  func expectedAfterExtension() throws {
    let half = World.period("yearly", "2026-04-15", "2026-10-15").with { period in
      (period.offerType, period.offerDiscountType) = (.offerCode, .payUpFront)
      (period.details.price, period.details.offerPeriod) = (29_990, "P6M")
    }
    let extended = half.with { period in
      (period.expiresDate, period.signedDate) = (World.day("2026-10-20"), World.day("2026-06-01"))
      period.details.firstExpiresDate = World.day("2026-10-15")
    }
    let infos = [("2026-04-14", "2026-10-15"), ("2026-06-01", "2026-10-20")].map { signed, end in
      World.info(signed, end) { ($0.details.renewalPrice, $0.details.currency) = (59_990, "USD") }
    }
    let revenue = try answer(
      .recurringRevenue, "2026-05-01", "2026-05-02", by: .day, at: "2026-06-30",
      [World.period("yearly", "2025-04-15", "2026-04-15"), extended], infos)
    #expect(revenue("closing", "expected", on: "2026-05-01", currency: "USD") == [59_980, 59_990])
  }

  @Test("A refund in the grace period ends the subscription, and is no cancellation")
  func refundInGrace() throws {
    let periods = [World.period("monthly", "09-18", "10-18").with { $0.revocationDate = World.day("10-20") }]
    let infos = [
      World.info("10-18", "10-18") {
        ($0.isInBillingRetry, $0.gracePeriodExpiresDate) = (true, World.day("11-03"))
      },
      World.info("10-20", "10-18") { ($0.autoRenewStatus, $0.expirationIntent) = (.off, .other) },
    ]
    let movements = try answer(.movements, "10-17", "11-01", by: .day, at: "10-31", periods, infos)
    #expect(movements("active_end", "refunded_out", on: "10-19") == [1, 0])
    #expect(movements("active_end", "refunded_out", "lapsed_voluntary", on: "10-20") == [0, 1, 0])
  }

  @Test("A payment at midnight ends the grace period before its day")
  func graceToMidnight() throws {
    let midnight = { (day: String) in World.reportDay(day).start }
    let periods = [
      World.period("monthly", "09-18", "10-18").with { $0.expiresDate = midnight("10-18") },
      World.period("monthly", "10-30", "11-18").with { $0.purchaseDate = midnight("10-30") },
    ]
    let infos = [
      World.info("10-18", "10-18") {
        ($0.renewalDate, $0.isInBillingRetry) = (midnight("10-18"), true)
        $0.gracePeriodExpiresDate = midnight("11-03")
      }
    ]
    let stocks = try answer(.subscriptions, "10-17", "11-01", by: .day, at: "10-31", periods, infos)
    #expect(
      ["10-17", "10-18", "10-29", "10-30"].map { stocks("active", "in_grace", on: $0) }
        == [[1, 0], [1, 1], [1, 1], [1, 0]])
    let billing = try answer(.billing, "10-17", "11-01", by: .day, at: "10-31", periods, infos)
    #expect(billing("grace_entered", "grace_recovered", on: "10-18") == [1, 0])
    #expect(
      billing("grace_recovered", "grace_days", "recovered_after_8_to_16_days", on: "10-30") == [1, 12, 1])
  }
}
