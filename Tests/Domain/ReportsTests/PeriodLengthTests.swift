import AppStore
import Entitlements
import Reports
import Testing

/// The length of periods, by which prices become recurring revenue.
@Suite struct PeriodLengthTests {
  private static let stated = AppDefinition(
    id: "ocean-journal", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
    environments: [.production],
    products: [
      ProductDefinition(
        productID: "yearly", type: .autoRenewableSubscription, subscriptionGroup: "pro",
        accessLevels: ["pro": .full],
        price: SubscriptionPrice(milliunits: 59_990, currency: "USD", period: Period(months: 12)))
    ])

  private func answer(
    _ name: Report.Name, _ from: String, _ to: String, by granularity: Granularity = .day,
    groupBy: [ReportQuery.Dimension] = [], in app: AppDefinition, _ facts: CustomerFacts
  ) throws -> Answer {
    let postings = PayerPostings(facts, in: app, at: World.day(to)).postings.map { ($0, $0.effectiveAt) }
    return try Answer(name, from, to, by: granularity, groupBy: groupBy, of: postings)
  }

  /// Monthly payments of a year, from the first day of each month of 2026.
  private func instalments(_ months: ClosedRange<Int>) -> [TransactionFact] {
    months.map { month in
      World.period("yearly", String(format: month), String(format: month + 1)).with {
        $0.details.price = 5_990
        $0.details.billingPlanType = .monthly
        $0.details.transactionReason = month == months.lowerBound ? .purchase : .renewal
        $0.details.commitment = TransactionDetails.Commitment(
          billingPeriodNumber: Int64(month - months.lowerBound + 1), totalBillingPeriods: 12)
      }
    }
  }

  @Test("A monthly payment of a commitment is the price of a month", arguments: [stated, World.app])
  func commitment(app: AppDefinition) throws {
    let info = World.info("01-15", "02-01") { info in
      (info.details.renewalPrice, info.details.currency) = (6_990, "USD")
      info.details.billingPlanType = .monthly
    }
    let facts = World.facts("C", instalments(1...4), [info])
    let revenue = try answer(.recurringRevenue, "01-01", "04-20", in: app, facts)
    #expect(revenue("new", "closing", "expected", on: "01-01", currency: "USD") == [71_880, 71_880, 71_880])
    // 12 payments of 6.99.
    #expect(revenue("closing", "expected", on: "01-15", currency: "USD") == [71_880, 83_880])
    #expect(revenue("retained", "active", on: "04-10", currency: "USD") == [71_880, 1])
    let retention = try answer(.retention, "01-01", "04-20", by: .month, in: app, facts)
    #expect(retention("reached", "had_time", on: "01-01", age: 4) == [1, 1])
  }

  @Test("The announced price is that of the billing plan of the next period")
  func nextPlan() throws {
    let year = World.period("yearly", "2025-02-01", "02-01").with {
      $0.details.billingPlanType = .billedUpfront
    }
    func info(_ plan: BillingPlanType, _ price: Int64, _ signed: String, _ end: String) -> RenewalFact {
      World.info(signed, end) { info in
        (info.details.renewalPrice, info.details.currency) = (price, "USD")
        info.details.billingPlanType = plan
      }
    }
    func expected(_ periods: [TransactionFact], _ info: RenewalFact, on day: String) throws -> [[Int64]] {
      try [Self.stated, World.app].map { app in
        try answer(.recurringRevenue, day, "02-01", in: app, World.facts("C", periods, [info]))(
          "expected", on: day, currency: "USD")
      }
    }
    #expect(
      try expected([year], info(.monthly, 5_990, "01-10", "02-01"), on: "01-10") == [[71_880], [71_880]])
    let last = instalments(1...1).map { $0.with { $0.details.commitment?.billingPeriodNumber = 12 } }
    #expect(
      try expected(last, info(.billedUpfront, 59_990, "01-10", "02-01"), on: "01-10") == [[59_990], [59_990]])
  }

  @Test("A product in both billing plans has the length of each plan, also without a period in the catalog")
  func bothPlans() throws {
    let year = World.period("yearly", "2025-01-01", "2026-01-01").with {
      $0.details.billingPlanType = .billedUpfront
    }
    for app in [Self.stated, World.app] {
      let facts = World.facts("C", [year] + instalments(1...2))
      let revenue = try answer(.recurringRevenue, "2025-01-01", "02-20", by: .month, in: app, facts)
      #expect(revenue("new", "closing", on: "2025-01-01", currency: "USD") == [59_990, 59_990])
      #expect(revenue("expansion", "closing", on: "2026-01-01", currency: "USD") == [11_890, 71_880])
      // Retention counts the periods of each subscription by its own length, also of the same product.
      var both = World.facts("C", [year])
      for fact in World.facts("D", instalments(1...3)).transactions { both.insert(fact) }
      let retention = try answer(
        .retention, "2025-01-01", "03-20", by: .month, groupBy: [.product], in: app, both)
      #expect(retention("had_time", on: "2025-01-01", age: 2, groups: ["yearly"]) == [1])
      #expect(retention("had_time", on: "2026-01-01", age: 3, groups: ["yearly"]) == [1])
    }
  }

  @Test(
    "A longer period of a product is an extended one, unless it is too long for that or of Advanced Commerce",
    arguments: [
      ("2026-01-01", false, 59_990), ("2025-06-01", false, 719_880), ("2025-04-01", true, 239_960),
      ("2025-06-01", true, 119_980), ("2026-01-01", true, 59_990),
    ])
  func longerPeriod(end: String, isAdvancedCommerce: Bool, annual: Int64) throws {
    let first = World.period("yearly", "2025-01-01", end).with {
      $0.details.isAdvancedCommerce = isAdvancedCommerce
    }
    let later = World.period("yearly", "2026-01-01", "02-01").with {
      $0.details.isAdvancedCommerce = isAdvancedCommerce
    }
    let revenue = try answer(
      .recurringRevenue, "2025-01-01", "01-20", by: .month, in: World.app,
      World.facts("C", [first, later]))
    #expect(revenue("closing", on: "2025-01-01", currency: "USD") == [annual])
    #expect(revenue("closing", on: "2026-01-01", currency: "USD") == [719_880])
  }
}

extension String {
  /// The first day of a month of 2026, as ``World/day(_:)`` reads it.
  fileprivate init(format month: Int) { self = (month < 10 ? "0" : "") + "\(month)-01" }
}
