import AppStore
import Entitlements
import TestSupport
import Testing

/// The hours around the end of a period, with the standard policy: a slack of one hour, a tolerance of five
/// minutes.
@Suite struct AroundRenewalTests {
  private static func app(_ policy: RenewalPolicy) -> AppDefinition {
    AppDefinition(
      id: "ocean", identity: EntitlementsTests.app.identity, environments: [.sandbox],
      products: Array(EntitlementsTests.app.products.values), renewalPolicy: policy)
  }

  private static let hour: Int64 = 3_600_000
  private static let end = at(30)
  private static let endOfSlack = end.advanced(byMilliseconds: hour)

  private func status(
    _ transactions: [TransactionFact], _ renewals: [RenewalFact] = [], after end: Int64,
    _ entitlement: String = "pro", _ policy: RenewalPolicy = .standard
  ) -> EntitlementStatus {
    evaluate(
      CustomerFacts(transactions: transactions, renewals: renewals), entitlement: entitlement,
      in: Self.app(policy), at: Self.end.advanced(byMilliseconds: end))
  }

  /// The events of a change between two answers of the same purchases.
  private func kinds(_ before: EntitlementStatus, _ after: EntitlementStatus) -> [EntitlementChange.Kind] {
    let facts = CustomerFacts(transactions: [period(0...30), period(30...60)])
    return EntitlementChange.changes(
      of: "pro", from: before, to: after, by: .evidence, at: Self.end,
      facts: FactsChange(from: facts, to: facts, by: .evidence)
    ).map(\.kind)
  }

  private func info(
    _ status: AutoRenewStatus, signedAfterEnd milliseconds: Int64 = -29 * 24 * hour,
    _ change: (inout RenewalFact) -> Void = { _ in }
  ) -> RenewalFact {
    renewal(signed: 0) {
      $0.signedDate = Self.end.advanced(byMilliseconds: milliseconds)
      $0.autoRenewStatus = status
      $0.renewalDate = Self.end
      change(&$0)
    }
  }

  @Test(
    "Access goes on for the slack while the renewal is on and nothing was reported", arguments: [true, false])
  func awaiting(hasInfo: Bool) {
    let infos = hasInfo ? [info(.on)] : []
    let before = status([period(0...30)], infos, after: -Self.hour)
    #expect(before.reason == .subscriptionActive)
    #expect(before.until == Self.endOfSlack && before.checkAgainAt == Self.endOfSlack)
    #expect(before.paidUntil == Self.end)
    for late in [Int64(0), 1, Self.hour - 1] {
      let awaiting = status([period(0...30)], infos, after: late)
      #expect(awaiting.reason == .awaitingRenewal && awaiting.isEntitled && awaiting.code == 5)
      #expect(awaiting.until == Self.endOfSlack && awaiting.checkAgainAt == Self.endOfSlack)
      #expect(awaiting.paidUntil == Self.end && awaiting.since == at(0))
    }
    let over = status([period(0...30)], infos, after: Self.hour)
    #expect(over.reason == .expired && !over.isEntitled)
    #expect(over.until == Self.endOfSlack && over.paidUntil == Self.end)
  }

  @Test("A period without an expected renewal has no slack")
  func noSlack() {
    let off = status([period(0...30)], [info(.off)], after: 0)
    #expect(off.reason == .cancelled && off.until == Self.end)
    #expect(status([period(0...30)], [info(.off)], after: -1).until == Self.end)
    let failed = info(.on, signedAfterEnd: 0) { $0.isInBillingRetry = true }
    #expect(status([period(0...30)], [info(.on), failed], after: 0).reason == .billingRetry)
    let commitment = period(0...30).with {
      $0.details.commitment = .init(billingPeriodNumber: 3, totalBillingPeriods: 12)
    }
    #expect(status([commitment], [info(.on)], after: 0).reason == .expired)
    #expect(status([period(0...30)], [info(.on)], after: 0, "pro", .exact).reason == .expired)
    let revoked = period(0...30).with { $0.revocationDate = at(20) }
    #expect(status([revoked], [info(.on)], after: 0).reason == .refunded)
  }

  @Test("The slack ends with the report of a failure, and stays access before it")
  func failureInSlack() {
    let minute: Int64 = 60_000
    let failed = info(.on, signedAfterEnd: 10 * minute) { $0.isInBillingRetry = true }
    let infos = [info(.on), failed]
    #expect(status([period(0...30)], infos, after: 5 * minute).reason == .awaitingRenewal)
    #expect(status([period(0...30)], infos, after: 10 * minute).reason == .billingRetry)
    let grace = info(.on, signedAfterEnd: 10 * minute) { $0.gracePeriodExpiresDate = at(46) }
    #expect(status([period(0...30)], [info(.on), grace], after: 5 * minute).reason == .awaitingRenewal)
    #expect(status([period(0...30)], [info(.on), grace], after: 10 * minute).reason == .inGracePeriod)
    #expect(status([period(0...30)], [info(.on), grace], after: 10 * minute).paidUntil == Self.end)
  }

  @Test("A renewal that is reported within the slack leaves no gap")
  func lateRenewal() {
    let renewed = period(30...60).with {
      $0.purchaseDate = Self.end.advanced(byMilliseconds: 20 * 60_000)
    }
    let status = status([period(0...30), renewed], [info(.on)], after: Self.hour)
    #expect(status.since == at(0) && status.paidUntil == at(60))
  }

  @Test("After an early renewal the answer is about the period to come")
  func earlyRenewal() {
    let transactions = [period(0...30), period(30...60)]
    let renewed = info(.on, signedAfterEnd: -20 * Self.hour) { $0.renewalDate = at(60) }
    let off = info(.off, signedAfterEnd: -10 * Self.hour) {
      $0.renewalDate = at(60)
      $0.autoRenewProductID = "yearly"
      $0.details.renewalPrice = 4990
      $0.priceIncreaseStatus = .pending
    }
    let before = status(transactions, [info(.on), renewed], after: -15 * Self.hour)
    #expect(before.code == 5 && before.willRenew == true)
    let after = status(transactions, [info(.on), renewed, off], after: -5 * Self.hour)
    #expect(after.code == 4 && after.willRenew == false && after.deciding?.transactionID == "L1-0")
    #expect(after.outlook?.productID == "yearly" && after.outlook?.price == 4990)
    #expect(after.outlook?.needsPriceConsent == true)
    #expect(after.until == at(60) && after.paidUntil == at(60) && after.actBy == at(60))
    #expect(kinds(before, after) == [.renewalTurnedOff])
  }

  @Test("Turning auto-renew off and on is one event each, although the slack ends and starts")
  func events() {
    let on = status([period(0...30)], [info(.on)], after: -Self.hour)
    let off = status([period(0...30)], [info(.off)], after: -Self.hour)
    #expect(kinds(on, off) == [.renewalTurnedOff])
    #expect(kinds(off, on) == [.renewalTurnedOn])
    #expect(kinds(on, status([period(0...30)], [info(.on)], after: 1)) == [])
    let renewed = status([period(0...30), period(30...60)], [info(.on)], after: 1)
    #expect(kinds(status([period(0...30)], [info(.on)], after: 1), renewed) == [.renewed])
  }

  /// The facts of a subscription whose renewal is awaited at the end of its period, and of another purchase.
  private func facts(with others: [TransactionFact], grants: [GrantFact] = []) -> CustomerFacts {
    CustomerFacts(transactions: [period(0...30)] + others, renewals: [info(.on)], grants: grants)
  }

  private func changes(
    _ before: CustomerFacts, after first: Int64, _ after: CustomerFacts, after last: Int64,
    by cause: ChangeCause = .time, _ policies: (RenewalPolicy, RenewalPolicy) = (.standard, .standard)
  ) -> [EntitlementChange] {
    func answer(_ facts: CustomerFacts, _ policy: RenewalPolicy, _ end: Int64) -> EntitlementStatus {
      evaluate(
        facts, entitlement: "pro", in: Self.app(policy), at: Self.end.advanced(byMilliseconds: end))
    }
    return EntitlementChange.changes(
      of: "pro", from: answer(before, policies.0, first), to: answer(after, policies.1, last), by: cause,
      at: Self.end.advanced(byMilliseconds: last), facts: FactsChange(from: before, to: after, by: cause))
  }

  private var lasting: [CustomerFacts] {
    let shared = { (fact: TransactionFact) in fact.with { $0.ownership = .familyShared } }
    return [
      facts(with: [shared(period(0...40, line: "S"))]),
      facts(with: [shared(purchase("lifetime", .nonConsumable, on: 0))]),
      facts(with: [shared(purchase("season", .nonRenewingSubscription, on: 0))]),
      facts(with: [period(0...40, line: "L2")]), facts(with: [], grants: [grant("G1", 0, 40)]),
    ]
  }

  @Test("A late renewal shortens no access that another purchase or a grant continues")
  func lateBesideOther() throws {
    for facts in lasting {
      #expect(changes(facts, after: -1, facts, after: 0).isEmpty)
      let over = changes(facts, after: Self.hour - 1, facts, after: Self.hour)
      #expect(over.allSatisfy { [.reasonChanged, .productChanged].contains($0.kind) })
      let shares = facts.transactions.contains { $0.expiresDate == at(40) }
      let late = evaluate(facts, entitlement: "pro", in: Self.app(.standard), at: Self.end)
      if shares { #expect(late.paidUntil == at(40), "the paid time continues") }
      var renewed = facts
      renewed.insert(period(30...60))
      #expect(changes(facts, after: 1, renewed, after: 1, by: .evidence).map(\.kind).contains(.renewed))
    }
    // The other one ends within the slack.
    let brief = facts(
      with: [
        period(0...30, line: "S").with {
          $0.expiresDate = Self.end.advanced(byMilliseconds: Self.hour / 2)
          $0.details.commitment = .init(billingPeriodNumber: 3, totalBillingPeriods: 12)
        }
      ])
    #expect(changes(brief, after: Self.hour / 2 - 1, brief, after: Self.hour / 2).isEmpty)
  }

  @Test("The end of a grace period shortens no access that another purchase continues")
  func graceBesideOther() {
    var failed = facts(with: [period(0...40, line: "S").with { $0.ownership = .familyShared }])
    failed.insert(info(.on, signedAfterEnd: 0) { $0.gracePeriodExpiresDate = at(33) })
    let end = 3 * 24 * Self.hour
    #expect(changes(failed, after: end - 1, failed, after: end).map(\.kind) == [.reasonChanged])
  }

  @Test("Another purchase that arrives while the renewal is late extends access")
  func joinsLate() {
    let awaited = facts(with: [])
    for joined in lasting where joined.grants.isEmpty && joined.transactions.contains(where: \.isShared) {
      #expect(changes(awaited, after: 1, joined, after: 1, by: .evidence).map(\.kind) == [.extended])
    }
  }

  @Test("Another slack is no change of access")
  func otherSlack() {
    let other = RenewalPolicy(slack: 2 * Self.hour, clockTolerance: 300_000)
    for facts in lasting + [facts(with: [])] {
      for policies in [(RenewalPolicy.standard, other), (other, .standard), (.standard, .exact)] {
        #expect(changes(facts, after: -1, facts, after: -1, by: .catalog, policies).isEmpty)
      }
    }
  }

  @Test("A purchase dated up to the tolerance in the future counts from its arrival")
  func tolerance() {
    let minute: Int64 = 60_000
    func bought(early minutes: Int64) -> TransactionFact {
      period(30...60).arrived(at: Self.end.advanced(byMilliseconds: -minutes * minute))
    }
    #expect(status([bought(early: 5)], after: -5 * minute).isEntitled)
    #expect(status([bought(early: 5)], after: -5 * minute - 1).reason == .neverPurchased)
    #expect(!status([bought(early: 6)], after: -6 * minute).isEntitled)
    #expect(status([bought(early: 6)], after: 0).since == Self.end)
    let renewed = status([period(0...30), bought(early: 2)], after: -minute)
    #expect(
      renewed.deciding?.transactionID == "L1-0" && renewed.until == at(60).advanced(byMilliseconds: Self.hour)
    )
    var facts = CustomerFacts(transactions: [bought(early: 2)])
    let signedLater = period(30...60).with { $0.signedDate = at(40) }
    let changes = [
      facts.insert(bought(early: 1)), facts.insert(bought(early: 4)), facts.insert(signedLater),
    ]
    #expect(changes == [false, true, true])
    #expect(facts.transactions.first?.arrivedEarlyAt == Self.end.advanced(byMilliseconds: -4 * minute))
    #expect(facts.contains(.transaction(signedLater)))
  }

  @Test("An upgrade dated up to the tolerance in the future counts from its arrival, in a running period")
  func upgradeInTheFuture() {
    func plus(early minutes: Int64) -> EntitlementStatus {
      let arrival = at(10).advanced(byMilliseconds: -minutes * 60_000)
      let upgrade = period(10...40, "plus", id: "U").with { $0.details.transactionReason = .purchase }
      let facts = CustomerFacts(transactions: [period(0...30), upgrade.arrived(at: arrival)])
      return evaluate(facts, entitlement: "plus", in: Self.app(.standard), at: arrival)
    }
    #expect(plus(early: 5).reason == .subscriptionActive)
    #expect(!plus(early: 6).isEntitled)
  }

  @Test("A renewal that arrives before its period, without the period before it, grants from its arrival")
  func renewedEarlyAndUnknownBefore() {
    let arrival = Self.end.advanced(byMilliseconds: -20 * Self.hour)
    let renewed = period(30...60).with {
      $0.details.transactionReason = .renewal
      $0.signedDate = arrival
    }.arrived(at: arrival)
    let answer = status([renewed], after: -19 * Self.hour)
    #expect(answer.isEntitled && answer.reason == .subscriptionActive && answer.since == arrival)
    #expect(!status([renewed], after: -21 * Self.hour).isEntitled)
    // Known periods decide: one that is running, one that ended, and one that was refunded.
    #expect(status([period(0...30), renewed], after: -19 * Self.hour).since == at(0))
    #expect(!status([period(0...28), renewed], after: -19 * Self.hour).isEntitled)
    let refunded = period(0...30).with { $0.revocationDate = at(20) }
    #expect(!status([refunded, renewed], after: -19 * Self.hour).isEntitled)
    // Only the App Store renews early, and not earlier than a day.
    let bought = renewed.with { $0.details.transactionReason = .purchase }
    #expect(!status([bought], after: -19 * Self.hour).isEntitled)
    let dayBefore = renewed.arrived(at: Self.end.advanced(byMilliseconds: -25 * Self.hour))
    #expect(!status([dayBefore], after: -19 * Self.hour).isEntitled)
  }

  @Test("A member who joins in the grace period has its access, and the recovered period after it")
  func joinedInGrace() {
    let failed = info(.on, signedAfterEnd: 0) { $0.gracePeriodExpiresDate = at(46) }
    func joined(_ id: String, _ day: Int64) -> TransactionFact {
      period(30...30, id: id).with {
        $0.purchaseDate = at(day)
        $0.signedDate = at(day)
        $0.ownership = .familyShared
      }
    }
    let gone = info(.off, signedAfterEnd: 4 * 24 * Self.hour) { $0.expirationIntent = .other }
    let again = info(.on, signedAfterEnd: 5 * 24 * Self.hour) { $0.gracePeriodExpiresDate = at(46) }
    let left = period(0...30).with {
      $0.revocationDate = at(34)
      $0.ownership = .familyShared
    }
    let members = [left, joined("B", 35)]
    for (day, isEntitled) in [(33, true), (34, false), (35, true), (45, true), (46, false)] {
      #expect(pro(members, [failed, gone, again], on: Int64(day)).isEntitled == isEntitled, "day \(day)")
    }
    let recovered = period(30...60, id: "C").with {
      $0.signedDate = at(36)
      $0.ownership = .familyShared
    }
    let renewed = info(.on, signedAfterEnd: 6 * 24 * Self.hour) { $0.renewalDate = at(60) }
    let failedAgain = info(.on, signedAfterEnd: 30 * 24 * Self.hour) {
      $0.renewalDate = at(60)
      $0.gracePeriodExpiresDate = at(76)
    }
    let all = members + [recovered]
    let infos = [failed, gone, again, renewed, failedAgain]
    for day in [36, 50, 61, 75] as [Int64] {
      #expect(pro(all, infos, on: day).deciding?.transactionID == "C", "day \(day)")
      #expect(pro(all, infos, on: day).isEntitled, "day \(day)")
    }
    #expect(!pro(all, infos, on: 76).isEntitled)
    // The grace period is over with the recovery.
    let revoked = [left, joined("B", 35), recovered.with { $0.revocationDate = at(40) }]
    #expect(!pro(revoked, [failed, gone, again, renewed], on: 41).isEntitled)
  }

  @Test(
    "A pending downgrade grants in grace what the policy names",
    arguments: RenewalPolicy.GraceEntitlements.allCases)
  func graceEntitlements(_ choice: RenewalPolicy.GraceEntitlements) {
    let policy = RenewalPolicy(slack: 0, clockTolerance: 0, graceEntitlements: choice)
    let failed = info(.on, signedAfterEnd: 0) {
      $0.gracePeriodExpiresDate = at(46)
      $0.autoRenewProductID = "monthly"
    }
    let transactions = [period(0...30, "plus")]
    #expect(status(transactions, [failed], after: 1, "plus", policy).isEntitled == (choice == .previous))
    #expect(status(transactions, [failed], after: 1, "pro", policy).isEntitled == (choice == .next))
  }
}
