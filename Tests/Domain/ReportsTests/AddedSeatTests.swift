import AppStore
import Entitlements
import Reports
import Testing

/// Seats that are added to a running period.
@Suite struct AddedSeatTests {
  /// Ten seats of the period from 5 October, and five more from the 15th on.
  private func parts(_ change: (inout TransactionFact) -> Void = { _ in }) -> [TransactionFact] {
    let first = World.period("monthly", "10-05", "11-05").with {
      ($0.quantity, $0.details.additionalTransactionReason) = (10, "SEAT_ADDITION")
      ($0.details.wasWithoutAdditions, $0.details.transactionReason) = (true, .purchase)
      change(&$0)
    }
    let added = World.period("monthly", "10-15", "11-05").with {
      ($0.quantity, $0.details.additionalTransactionReason) = (5, "SEAT_ADDITION")
      $0.details.transactionReason = .purchase
    }
    return [first, added]
  }

  private func answer(
    _ name: Report.Name, groupBy: [ReportQuery.Dimension] = [], _ periods: [TransactionFact],
    _ infos: [RenewalFact] = []
  ) throws -> Answer {
    let postings = PayerPostings(World.facts("S", periods, infos), in: World.app, at: World.day("11-30"))
      .postings.map { ($0, $0.effectiveAt) }
    return try Answer(name, "10-01", "12-01", by: .day, groupBy: groupBy, of: postings)
  }

  @Test("Added seats are an expansion on their day, and count from it on")
  func expansion() throws {
    let renewed = World.period("monthly", "11-05", "12-05").with { $0.quantity = 15 }
    let revenue = try answer(.recurringRevenue, parts() + [renewed])
    #expect(revenue("new", "closing", on: "10-05", currency: "USD") == [1_198_800, 1_198_800])
    #expect(revenue("expansion", "closing", on: "10-14", currency: "USD") == [0, 1_198_800])
    #expect(
      revenue("expansion", "closing", "expected", on: "10-15", currency: "USD")
        == [599_400, 1_798_200, 1_798_200])
    #expect(
      revenue("expansion", "contraction", "closing", on: "11-05", currency: "USD") == [0, 0, 1_798_200])
    let changes = try answer(.recurringChanges, groupBy: [.reason], parts() + [renewed])
    #expect(
      changes("expansion", "expanded", on: "10-15", currency: "USD", groups: ["SEATS"]) == [599_400, 1])
    let movements = try answer(.movements, parts() + [renewed])
    #expect(movements("started_paid", "active_end", on: "10-05") == [1, 1])
    #expect(movements("active_start", "started_paid", "renewed", "active_end", on: "10-15") == [1, 0, 0, 1])
  }

  @Test("The announced price counts for the seats of its time")
  func expected() throws {
    let infos = ["10-06", "10-20"].map { signed in
      World.info(signed, "11-05") { info in
        (info.details.renewalPrice, info.details.currency) = (signed == "10-06" ? 8_990 : 7_990, "USD")
      }
    }
    let revenue = try answer(.recurringRevenue, parts(), infos)
    let days = ["10-05", "10-06", "10-15", "10-20"]
    #expect(
      days.map { revenue("expected", on: $0, currency: "USD") } == [
        [1_198_800], [1_078_800], [1_618_200], [1_438_200],
      ])
  }

  @Test("A later renewal with fewer seats is a contraction of those that were added")
  func contraction() throws {
    let renewed = World.period("monthly", "11-05", "12-05").with { $0.quantity = 12 }
    let changes = try answer(.recurringChanges, groupBy: [.reason], parts() + [renewed])
    #expect(changes("contraction", on: "11-05", currency: "USD", groups: ["SEATS"]) == [-359_640])
  }

  @Test("Seats that were added before a refund was reversed count after it")
  func reversedRefund() throws {
    let periods = parts {
      $0.details.refunds = [.init(date: World.day("10-12"), percentage: nil)]
      $0.details.reversals = [World.day("10-18")]
    }
    let revenue = try answer(.recurringRevenue, periods)
    #expect(revenue("churn_refund", "closing", on: "10-12", currency: "USD") == [-1_198_800, 0])
    #expect(revenue("expansion", "closing", on: "10-15", currency: "USD") == [0, 0])
    #expect(revenue("reversed", "closing", on: "10-18", currency: "USD") == [1_798_200, 1_798_200])
  }

  @Test("Seats that are added to a commitment add to its remainder")
  func commitment() throws {
    let periods = parts().map { part in
      part.with {
        $0.details.billingPlanType = .monthly
        $0.details.commitment = .init(billingPeriodNumber: 3, totalBillingPeriods: 12)
      }
    }
    let commitments = try answer(.commitments, periods)
    #expect(commitments("committed", "remainder", on: "10-14", currency: "USD") == [1, 899_100])
    #expect(commitments("committed", "remainder", on: "10-15", currency: "USD") == [1, 1_348_650])
  }
}
