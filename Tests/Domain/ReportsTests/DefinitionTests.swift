import AppStore
import Entitlements
import Reports
import Testing

/// The definitions with the figures of their examples: October 2026, asked at the end of the month.
@Suite struct DefinitionTests {
  private let postings = World.postings(at: World.day("10-31"))

  private func october(_ name: Report.Name, isOfProceeds: Bool = false) throws -> Answer {
    try Answer(name, "10-01", "11-01", isOfProceeds: isOfProceeds, of: postings)
  }

  @Test("Active, trial, grace, retry and risk count subscriptions at the end of each day")
  func stocks() throws {
    #expect(try october(.subscriptions)("active", "in_trial", on: "10-01") == [7, 0])
    let days = try Answer(.subscriptions, "09-30", "11-01", by: .day, of: postings)
    #expect(days("active", "at_risk", on: "09-30") == [5, 1])
    #expect(days("in_trial", on: "10-09") == [1])
    #expect(days("in_grace", "in_retry", on: "10-20") == [1, 1])
    #expect(days("in_grace", "in_retry", on: "10-31") == [0, 0])
  }

  @Test("The movements of October explain its difference in active subscriptions")
  func movements() throws {
    let names = try october(.movements)
    #expect(names("active_start", "started_paid", "converted", "resubscribed", on: "10-01") == [5, 2, 1, 1])
    #expect(names("recovered", "lapsed_voluntary", "lapsed_billing", on: "10-01") == [1, 1, 1])
    #expect(names("lapsed_other", "refunded_out", "to_free_offer", on: "10-01") == [0, 1, 0])
    #expect(names("active_end", "trial_started", "upgraded", on: "10-01") == [7, 2, 1])
    // B converted and C expired.
    #expect(names("in_trial_start", "trial_expired", "in_trial_end", on: "10-01") == [0, 1, 0])
    // A and E renewed; K's payment was late, and its billing cycle is the old one.
    #expect(names("renewed", on: "10-01") == [3])
  }

  @Test(
    "An upgrade after a renewal was charged early, and before it began, takes the place of the renewal",
    arguments: [false, true])
  func upgradeBeforeRenewal(isOfOldDocument: Bool) throws {
    let facts = World.facts(
      "N",
      [
        World.period("monthly", "09-05", "10-05").with { $0.isUpgraded = true },
        World.period("premium", "10-04", "11-04").with { $0.details.transactionReason = .purchase },
        World.period("monthly", "10-05", "11-05").with {
          $0.isUpgraded = !isOfOldDocument
          if isOfOldDocument { $0.signedDate = World.day("10-03") }
        },
      ])
    let answer = try Answer(
      .movements, "10-01", "11-01", of: World.postings(at: World.day("10-31"), ["N": facts]))
    #expect(answer("active_start", "upgraded", "downgraded", "active_end", on: "10-01") == [1, 1, 0, 1])
    let products = try Answer(
      .subscriptions, "10-01", "11-01", groupBy: [.product],
      of: World.postings(at: World.day("10-31"), ["N": facts]))
    #expect(products("active", on: "10-01", groups: ["premium"]) == [1])
  }

  @Test("A change of the billing plan credits the renewal that was charged early and has not begun")
  func planChangeBeforeRenewal() {
    let facts = World.facts(
      "N",
      [
        World.period("yearly", "2025-10-05", "10-05").with { $0.isUpgraded = true },
        World.period("yearly", "10-04", "11-04").with {
          $0.details.transactionReason = .purchase
          $0.details.billingPlanType = .monthly
          $0.details.price = 5_990
        },
        World.period("yearly", "10-05", "2027-10-05").with { $0.isUpgraded = true },
      ])
    let credits = World.postings(at: World.day("10-31"), ["N": facts]).map { $0.posting }
      .filter { $0.kind == .upgradeCredit }
    #expect(credits.map(\.amount) == [-59_990])
  }

  @Test(
    "A refund that the document of an upgraded period states is not estimated again", arguments: [0, -300])
  func statedUpgradeRefund(lead: Int64) {
    let facts = World.facts(
      "N",
      [
        World.period("monthly", "09-20", "10-20").with {
          $0.isUpgraded = true
          $0.revocationDate = World.day("10-05").advanced(byMilliseconds: lead)
          ($0.revocationType, $0.details.revocationPercentage) = (.refundProrated, 50_000)
        },
        World.period("premium", "10-05", "11-05").with { $0.details.transactionReason = .purchase },
      ])
    let postings = World.postings(at: World.day("10-31"), ["N": facts]).map { $0.posting }
    let returned = postings.filter { [.refund, .upgradeCredit, .refundedOut].contains($0.kind) }
    #expect(returned.map(\.amount) == [-4_995])
    #expect(postings.contains { $0.kind == .upgraded })
  }

  /// What Apple returned for a month of which an upgrade left one half, and that was revoked on a day.
  private func returned(revokedOn day: String, _ type: RevocationType?) -> [Posting] {
    let facts = World.facts(
      "N",
      [
        World.period("monthly", "09-20", "10-20").with {
          ($0.isUpgraded, $0.revocationDate, $0.revocationType) = (true, World.day(day), type)
        },
        World.period("premium", "10-05", "11-05").with { $0.details.transactionReason = .purchase },
      ])
    return World.postings(at: World.day("10-31"), ["N": facts]).map { $0.posting }
      .filter { [.refund, .refundOfPurchase, .upgradeCredit, .refundedOut].contains($0.kind) }
  }

  @Test(
    "A revocation at the upgrade without an amount is no refund, and its return is estimated",
    arguments: [nil, RevocationType.refundProrated])
  func unstatedUpgradeRefund(type: RevocationType?) {
    let returned = returned(revokedOn: "10-05", type)
    #expect(returned.map(\.kind) == [.upgradeCredit])
    #expect(returned.map(\.amount) == [-4_995])
  }

  @Test("A full refund of an upgraded period stays a refund")
  func fullRefundOfUpgraded() {
    let atUpgrade = returned(revokedOn: "10-05", .refundFull)
    #expect(atUpgrade.filter { $0.amount != 0 }.map(\.kind) == [.refund])
    #expect(atUpgrade.map(\.amount).reduce(0, +) == -9_990)
    let later = returned(revokedOn: "10-12", nil)
    #expect(later.filter { $0.kind == .refund }.map(\.amount) == [-9_990])
  }

  @Test("A renewal that an upgrade replaced before it began is returned as a whole")
  func revokedRenewalBeforeUpgrade() {
    let facts = World.facts(
      "N",
      [
        World.period("monthly", "09-05", "10-05").with { $0.isUpgraded = true },
        World.period("premium", "10-04", "11-04").with { $0.details.transactionReason = .purchase },
        World.period("monthly", "10-05", "11-05").with {
          ($0.isUpgraded, $0.revocationDate) = (true, World.day("10-04"))
        },
      ])
    let refunds = World.postings(at: World.day("10-31"), ["N": facts]).map { $0.posting }
      .filter { $0.kind == .refund }
    #expect(refunds.map(\.amount) == [-9_990])
  }

  @Test("Recurring revenue moves from opening to closing, each currency apart")
  func recurringRevenue() throws {
    let revenue = try october(.recurringRevenue)
    #expect(
      revenue("opening", "new", "reactivation", "recovered", on: "10-01", currency: "USD")
        == [539_510, 335_350, 0, 119_880])
    #expect(revenue("expansion", "contraction", on: "10-01", currency: "USD") == [60_000, 0])
    let changes = try Answer(.recurringChanges, "10-01", "11-01", groupBy: [.reason], of: postings)
    #expect(
      changes("expansion", "net", "expanded", on: "10-01", currency: "USD", groups: ["UPGRADE"])
        == [60_000, 60_000, 1])
    #expect(changes.rows.count == 1)
    #expect(
      revenue("churn_voluntary", "churn_billing", "churn_refund", on: "10-01", currency: "USD")
        == [-59_990, -119_880, -155_480])
    #expect(revenue("closing", "active", on: "10-01", currency: "USD") == [719_390, 6])
    #expect(revenue("reactivation", "closing", on: "10-01", currency: "EUR") == [119_880, 119_880])
  }

  @Test("Revenue counts charges, refunds and payers of the bucket; an upgrade credit is apart")
  func revenue() throws {
    let revenue = try october(.revenue)
    #expect(revenue("gross", "refunds", "net", on: "10-01", currency: "USD") == [127_920, -2_990, 124_930])
    #expect(revenue("payers", "upgrade_credit", on: "10-01", currency: "USD") == [7, -7_412])
    #expect(revenue("gross", on: "10-01", currency: "EUR") == [9_990])
    let proceeds = try october(.revenue, isOfProceeds: true)
    #expect(proceeds("net", on: "10-01", currency: "USD") == [87_451])
  }

  @Test("The refund rate is that of purchases of the bucket")
  func refunds() throws {
    let refunds = try october(.refunds)
    #expect(refunds("refunds", "refunded_purchases", on: "10-01", currency: "USD") == [1, 1])
    #expect(refunds("amount", "full", on: "10-01", currency: "USD") == [-2_990, -2_990])
    // B, A, D, K, G and J once; E twice. H paid in euros.
    #expect(refunds("purchases", on: "10-01", currency: "USD") == [8])
    #expect(refunds("purchases", on: "10-01", currency: "EUR") == [1])
  }

  @Test("Conversion counts trials by their start, without those that still run")
  func trials() throws {
    #expect(try october(.trials)("started", "converted", "ended", "running", on: "10-01") == [2, 1, 2, 0])
    #expect(try october(.trials)("cancelled_within_a_day", on: "10-01") == [1])
  }

  @Test("Retention counts only those that had time")
  func retention() throws {
    let middle = try Answer(.retention, "09-01", "10-17", groupBy: [.product], of: postings)
    #expect(middle("reached", "had_time", on: "09-01", age: 2, groups: ["monthly"]) == [2, 3])
    let end = try Answer(.retention, "09-01", "11-01", groupBy: [.product], of: postings)
    #expect(end("reached", "had_time", on: "09-01", age: 2, groups: ["monthly"]) == [4, 4])
    let weeks = try Answer(.retention, "09-01", "11-01", by: .week, groupBy: [.product], of: postings)
    // D, on 10 September, and E, on the 12th.
    #expect(weeks("reached", "had_time", on: "09-07", age: 2, groups: ["monthly"]) == [2, 2])
    #expect(throws: ReportTable.Failure.mixedDurations) {
      try Answer(.retention, "09-01", "11-01", of: postings)
    }
  }

  @Test("Lifetime value is what a cohort paid up to the end of a month")
  func lifetimeValue() throws {
    let values = try Answer(.lifetimeValue, "09-01", "11-01", of: postings)
    #expect(values("gross", "payers", on: "09-01", currency: "USD", age: 1) == [94_910, 4])
    #expect(values("upgrade_credit", "net", on: "09-01", currency: "USD", age: 1) == [-7_412, 87_498])
    #expect(values("net", "net_of_month", on: "09-01", currency: "USD", age: 0) == [39_960, 39_960])
    #expect(values("net_of_month", on: "09-01", currency: "USD", age: 1) == [47_538])
  }

  @Test("Grace and billing retry count failed payments and their recovery")
  func billing() throws {
    let billing = try october(.billing)
    #expect(billing("grace_entered", "grace_recovered", "grace_ended", on: "10-01") == [1, 1, 0])
    #expect(billing("grace_days", "retry_days", on: "10-01") == [12, 11])
    #expect(billing("retry_entered", "retry_recovered", "retry_lost", on: "10-01") == [1, 1, 0])
    // K paid after 12 days, in the grace period, and D after 11.
    #expect(billing("recovered_after_4_to_7_days", "recovered_after_8_to_16_days", on: "10-01") == [0, 2])
  }

  @Test(
    "Each payment that was recovered has one length of time",
    arguments: [0, 1, 3, 4, 7, 8, 16, 17, 28, 29, 60, 61, 90])
  func recoveryTimes(days: Int64) throws {
    let names = RecoveryTime(days: days).column.split(separator: "_").compactMap { Int64($0) }
    let isOpen = days > 60
    #expect(names[0] <= days && (isOpen || days <= names[names.count - 1]))
    #expect(Set(RecoveryTime.allCases.map(\.column)).isSubset(of: Report.named(.billing).columns.map(\.name)))
  }

  @Test("Ends are counted by reason")
  func churn() throws {
    let churn = try october(.churnReasons)
    #expect(churn("lapsed", "cancelled", "billing", "refund", "unknown", on: "10-01") == [3, 1, 1, 1, 0])
  }

  @Test("One year of paid service is reached, and reset after 60 days without a subscription")
  func paidYears() throws {
    let postings = World.postings(at: World.day("12-31"), ["F": World.payers["F"]!])
    let years = try Answer(.paidYears, "10-01", "12-31", by: .day, of: postings)
    #expect(years("past_one_year", "year_reached", on: "10-15") == [1, 1])
    #expect(years("past_one_year", "year_reset", on: "12-13") == [1, 0])
    #expect(years("past_one_year", "year_reset", "first_charge_at_85", on: "12-14") == [0, 1, 0])
  }

  @Test("Instalments of a commitment reduce what is still to come")
  func commitments() throws {
    let instalments = (1...3).map { number in
      World.period("monthly", "0\(number + 6)-01", number == 3 ? "10-01" : "0\(number + 7)-01").with {
        $0.details.price = 7_990
        $0.details.commitment = TransactionDetails.Commitment(
          billingPeriodNumber: Int64(number), totalBillingPeriods: 12)
      }
    }
    let postings = World.postings(at: World.day("09-15"), ["L": World.facts("L", instalments)])
    let answer = try Answer(.commitments, "07-01", "10-01", of: postings)
    #expect(answer("committed", "remainder", on: "09-01", currency: "USD") == [1, 71_910])
    #expect(answer("instalments", on: "09-01", currency: "USD") == [1])
  }

  @Test("An instalment that is paid out of billing retry is one")
  func recoveredInstalment() throws {
    let instalments = [("07-01", "08-01"), ("08-20", "09-20")].enumerated().map { index, dates in
      World.period("monthly", dates.0, dates.1).with {
        $0.details.price = 7_990
        $0.details.transactionReason = index == 0 ? .purchase : .renewal
        $0.details.commitment = TransactionDetails.Commitment(
          billingPeriodNumber: Int64(index + 1), totalBillingPeriods: 12)
      }
    }
    let postings = World.postings(at: World.day("09-15"), ["L": World.facts("L", instalments)])
    let answer = try Answer(.commitments, "08-01", "09-01", of: postings)
    #expect(answer("instalments", on: "08-01", currency: "USD") == [1])
    let movements = try Answer(.movements, "08-01", "09-01", of: postings)
    #expect(movements("recovered", "renewed", on: "08-01") == [1, 0])
  }

  @Test("One-time purchases are in no subscription report")
  func oneTime() throws {
    let coins = World.period("coins", "10-05", "10-05").with {
      ($0.type, $0.expiresDate) = (.consumable, nil)
    }
    let postings = World.postings(
      at: World.day("10-31"),
      ["M": World.facts("M", [coins.with { $0.details.price = 990 }])])
    let answer = try Answer(.oneTime, "10-01", "11-01", of: postings)
    #expect(answer("purchases", "gross", "consumables", on: "10-01", currency: "USD") == [1, 990, 990])
    #expect(try Answer(.subscriptions, "10-01", "11-01", of: postings).rows.isEmpty)
  }
}
