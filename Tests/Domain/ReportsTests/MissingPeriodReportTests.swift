import AppStore
import Entitlements
import Reports
import Testing

/// A renewal after a gap: the documents about the periods in between are missing, or the subscription was away.
@Suite struct MissingPeriodReportTests {
  private func movements(
    of facts: CustomerFacts, _ from: String, _ to: String, by granularity: Granularity = .month
  ) throws -> Answer {
    try Answer(
      .movements, from, to, by: granularity, of: World.postings(at: World.day("12-31"), ["M": facts]))
  }

  @Test(
    "A renewal after whole periods without documents continues the subscription",
    arguments: [
      ("monthly", "09-05", "10-05", "11-05", "12-05"), ("monthly", "08-05", "09-05", "11-05", "12-05"),
      ("weekly", "10-20", "10-27", "11-24", "12-01"),
      ("yearly", "2024-11-15", "2025-11-15", "11-15", "2027-11-15"),
    ])
  func continues(product: String, start: String, end: String, next: String, nextEnd: String) throws {
    let facts = World.facts(
      "M", [World.period(product, start, end), World.period(product, next, nextEnd)])
    let answer = try movements(of: facts, "10-01", "12-01")
    let names = ["lapsed_billing", "lapsed_voluntary", "lapsed_other", "recovered", "resubscribed"]
    for bucket in ["10-01", "11-01"] {
      #expect(names.flatMap { answer($0, on: bucket) } == [0, 0, 0, 0, 0], "\(bucket)")
    }
    #expect(answer("renewed", on: "11-01") == [1])
    #expect(answer("active_end", on: "10-01") == [1])
    let retry = try Answer(
      .billing, "10-01", "12-01", of: World.postings(at: World.day("12-31"), ["M": facts]))
    #expect(retry("retry_entered", "retry_recovered", on: "10-01") == [0, 0])
  }

  @Test("A failed payment that Apple reported was recovered, also after a gap of whole periods")
  func failed() throws {
    let facts = World.facts(
      "M", [World.period("monthly", "09-05", "10-05"), World.period("monthly", "11-05", "12-05")],
      [World.info("10-05", "10-05") { $0.isInBillingRetry = true }])
    let answer = try movements(of: facts, "10-01", "12-01")
    #expect(answer("lapsed_billing", "active_end", on: "10-01") == [1, 0])
    #expect(answer("recovered", "renewed", "active_end", on: "11-01") == [1, 0, 1])
  }

  @Test("A renewal after any other gap was recovered, because only a failed payment leaves one")
  func otherGap() throws {
    let facts = World.facts(
      "M", [World.period("monthly", "09-05", "10-05"), World.period("monthly", "10-21", "11-21")])
    let answer = try movements(of: facts, "10-01", "11-01")
    #expect(answer("lapsed_billing", "recovered", on: "10-01") == [1, 1])
  }

  @Test(
    "A renewal in the renewal slack after its period is no lapse, unless Apple reported a failed payment",
    arguments: [(10, false), (60, false), (61, true), (10, true)])
  func late(minutes: Int64, hasFailed: Bool) throws {
    let app = AppDefinition(
      id: World.app.id, identity: World.app.identity, environments: World.app.environments,
      products: Array(World.app.products.values), renewalPolicy: .standard)
    // A payment that is recovered without a grace period begins a new cycle.
    let late = { (fact: TransactionFact) in
      fact.with {
        $0.purchaseDate = $0.purchaseDate.advanced(byMilliseconds: minutes * 60_000)
        $0.expiresDate = $0.expiresDate?.advanced(byMilliseconds: minutes * 60_000)
      }
    }
    let failed = World.info("10-05", "10-05") { $0.isInBillingRetry = true }
    let kinds = { (first: TransactionFact) -> Set<Posting.Kind> in
      let renewed = late(World.period("monthly", "10-05", "11-05"))
      let facts = World.facts("M", [first, renewed], hasFailed && minutes == 10 ? [failed] : [])
      return Set(PayerPostings(facts, in: app, at: World.day("10-20")).postings.map(\.kind))
    }
    let paid: Set<Posting.Kind> = [.lapsedBilling, .inRetry, .recovered, .renewed]
    #expect(
      kinds(World.period("monthly", "09-05", "10-05")).intersection(paid)
        == (hasFailed ? [.lapsedBilling, .inRetry, .recovered] : [.renewed]))
    let ofTrial: Set<Posting.Kind> = [.trialLapsedBilling, .convertedFromRetry, .converted]
    #expect(
      kinds(World.trial("monthly", "09-05", "10-05")).intersection(ofTrial)
        == (hasFailed ? [.trialLapsedBilling, .convertedFromRetry] : [.converted]))
  }

  @Test("A cancellation that Apple reported, and a purchase, are an end and a return")
  func returns() throws {
    let cancelled = World.info("10-05", "10-05") {
      ($0.autoRenewStatus, $0.expirationIntent) = (.off, .customerCancelled)
    }
    let renewed = World.period("monthly", "12-05", "2027-01-05")
    let bought = renewed.with { $0.details.transactionReason = .purchase }
    for (next, infos) in [(renewed, [cancelled]), (bought, [])] as [(TransactionFact, [RenewalFact])] {
      let facts = World.facts("M", [World.period("monthly", "09-05", "10-05"), next], infos)
      let answer = try movements(of: facts, "10-01", "2027-01-01")
      #expect(answer("active_end", on: "10-01") == [0])
      #expect(answer("resubscribed", "active_end", on: "12-01") == [1, 1])
    }
  }

  @Test("A trial whose first payment is missing converted at its end")
  func trial() throws {
    let facts = World.facts(
      "M", [World.trial("monthly", "10-01", "10-08"), World.period("monthly", "11-08", "12-08")])
    let answer = try movements(of: facts, "10-01", "12-01")
    #expect(answer("converted", "converted_from_retry", "trial_expired", on: "10-01") == [1, 0, 0])
    #expect(answer("in_trial_end", "active_end", on: "10-01") == [0, 1])
    #expect(answer("active_end", on: "11-01") == [1])
    let postings = World.postings(at: World.day("12-31"), ["M": facts])
    let retention = try Answer(.retentionByMonth, "10-01", "12-01", of: postings)
    #expect(retention("active", on: "10-01", age: 1) == [1])
  }

  @Test("One year of paid service counts on after a year without documents, and not after a cancellation")
  func paidYear() throws {
    let periods = [
      World.period("yearly", "2023-12-15", "2024-12-15"), World.period("yearly", "2025-12-15", "2026-12-15"),
    ]
    let off = World.info("2024-06-01", "2024-12-15") { $0.autoRenewStatus = .off }
    for (infos, isReset) in [([], false), ([off], true)] as [([RenewalFact], Bool)] {
      let postings = World.postings(at: World.day("12-31"), ["M": World.facts("M", periods, infos)])
      let february = try Answer(.paidYears, "2025-02-01", "2025-03-01", of: postings)
      #expect(february("year_reset", "past_one_year", on: "2025-02-01") == (isReset ? [1, 0] : [0, 1]))
      let december = try Answer(.paidYears, "2025-12-01", "2026-01-01", of: postings)
      #expect(december("charges_at_85", "charges", on: "2025-12-01") == [isReset ? 0 : 1, 1])
    }
  }
}
