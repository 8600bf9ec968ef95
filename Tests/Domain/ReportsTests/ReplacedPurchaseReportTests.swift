import AppStore
import Entitlements
import Reports
import Testing

/// Purchases that replaced another one of the same payer (`previousOriginalTransactionId`).
@Suite struct ReplacedPurchaseReportTests {
  /// A monthly subscription from 5 September to 5 November, and `purchase`, which replaced it.
  private func facts(_ purchase: TransactionFact, replacing line: String? = "L1") -> CustomerFacts {
    var facts = World.facts(
      "L1", [World.period("monthly", "09-05", "10-05"), World.period("monthly", "10-05", "11-05")])
    facts.merge(
      World.facts(
        "L2",
        [
          purchase.with {
            $0.details.transactionReason = .purchase
            $0.details.previousOriginalTransactionID = line
          }
        ]))
    return facts
  }

  private func answer(
    _ name: Report.Name, _ facts: CustomerFacts, from: String = "10-01", to: String = "11-01",
    by granularity: Granularity = .month, groupBy: [ReportQuery.Dimension] = [],
    claims: [String: PurchaseClaims] = [:]
  ) throws -> Answer {
    let postings = PayerPostings(facts, in: World.app, at: World.day("11-30"), claims: claims).postings
    return try Answer(
      name, from, to, by: granularity, groupBy: groupBy, of: postings.map { ($0, $0.effectiveAt) })
  }

  @Test("A replaced purchase is a change of product, without an end and a beginning")
  func change() throws {
    let facts = facts(World.period("premium", "10-20", "11-20"))
    let movements = try answer(.movements, facts)
    #expect(movements("active_start", "upgraded", "renewed", "active_end", on: "10-01") == [1, 1, 1, 1])
    #expect(movements("started_paid", "resubscribed", "lapsed_other", on: "10-01") == [0, 0, 0])
    let revenue = try answer(.recurringRevenue, facts)
    #expect(
      revenue("opening", "new", "reactivation", "expansion", "closing", on: "10-01", currency: "USD")
        == [119_880, 0, 0, 60_000, 179_880])
    // The end of the replaced purchase on 5 November is not counted.
    let november = try answer(.movements, facts, from: "11-01", to: "12-01")
    #expect(november("active_start", "lapsed_other", "active_end", on: "11-01") == [1, 1, 0])
    let retention = try answer(.retentionByMonth, facts, from: "09-01")
    #expect(retention("active", "subscriptions", on: "09-01", age: 1) == [1, 1])
    #expect(retention("subscriptions", on: "10-01") == [0])
  }

  @Test("A product that the catalog does not have continues the subscription at its end")
  func unknownProduct() throws {
    let facts = facts(World.period("commerce", "11-05", "12-05").with { $0.details.price = 12_990 })
    let movements = try answer(.movements, facts, from: "11-01", to: "12-01")
    #expect(
      movements("active_start", "changed_product", "resubscribed", "active_end", on: "11-01") == [1, 1, 0, 1])
    let revenue = try answer(.recurringRevenue, facts, from: "11-01", to: "12-01")
    #expect(revenue("expansion", "closing", on: "11-01", currency: "USD") == [36_000, 155_880])
    let causes = try answer(
      .recurringChanges, facts, from: "11-01", to: "12-01", groupBy: [.reason])
    #expect(causes.rows.map(\.groups) == [["CHANGED_PRODUCT"]])
    let payers = try answer(.retentionOfPayers, facts, from: "09-01", to: "12-01")
    #expect(payers("active", "payers", on: "09-01", age: 2) == [1, 1])
  }

  @Test(
    "Without the replaced purchase, or beside a later period of it, the purchase is a new subscription")
  func others() throws {
    let premium = World.period("premium", "10-20", "11-20")
    for line in [nil, "", "L0", "L2"] {
      let movements = try answer(.movements, facts(premium, replacing: line))
      #expect(movements("resubscribed", "active_end", on: "10-01") == [1, 2])
    }
    let earlier = try answer(.movements, facts(World.period("premium", "09-20", "10-20")))
    #expect(earlier("active_start", "upgraded", on: "10-01") == [2, 0])
  }

  @Test("Each purchase in a row continues the subscription")
  func row() throws {
    var facts = facts(World.period("premium", "10-20", "11-20"))
    facts.merge(
      World.facts(
        "L0",
        [
          World.period("yearly", "10-25", "2027-10-25").with {
            $0.details.transactionReason = .purchase
            $0.details.previousOriginalTransactionID = "L2"
          }
        ]))
    let movements = try answer(.movements, facts)
    #expect(movements("upgraded", "downgraded", "resubscribed", "active_end", on: "10-01") == [1, 1, 0, 1])
  }

  @Test("The subscription is without an owner while the purchase of that time is")
  func owners() throws {
    let owned = ["L2": PurchaseClaims([(gained: true, at: nil)])]
    let days = try answer(
      .subscriptions, facts(World.period("premium", "10-20", "11-20")), by: .day, claims: owned)
    #expect(days("active", "unclaimed_active", on: "10-19") == [1, 1])
    #expect(days("active", "unclaimed_active", on: "10-20") == [1, 0])
  }
}
