import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct SubscriptionHistoryTests {
  @Test("The first purchase is a start, the first paid period after a trial a conversion")
  func conversion() {
    let trial = period(0...7).with { $0.offerDiscountType = .freeTrial }
    let history = history([trial, period(7...37)], now: 40)
    #expect(history.milestones(.started) == [at(0)])
    #expect(history.milestones(.convertedFromTrial) == [at(7)])
    #expect(history.milestones(.churnedOtherwise) == [at(37)])
    #expect(history.covers(.trial, at(3)))
    #expect(!history.covers(.trial, at(8)))
  }

  @Test(
    "Churn is voluntary for intents 1 and 3, involuntary for 2, and neither for 4 and 5",
    arguments: [
      (ExpirationIntent.customerCancelled, SubscriptionHistory.Milestone.Kind.churnedVoluntarily),
      (.priceIncreaseNotAccepted, .churnedVoluntarily), (.billingError, .churnedInvoluntarily),
      (.productUnavailable, .churnedOtherwise), (.other, .churnedOtherwise),
    ])
  func churn(intent: ExpirationIntent, kind: SubscriptionHistory.Milestone.Kind) {
    let history = history([period(0...30)], [renewal(signed: 30) { $0.expirationIntent = intent }], now: 40)
    #expect(history.milestones(kind) == [at(30)])
    #expect(history.milestones.count == 2)
  }

  @Test("A payment in grace keeps the billing cycle, a later one starts a new cycle")
  func recovery() {
    let renewed = { (days: ClosedRange<Int64>) in
      period(days).with { $0.details.transactionReason = .renewal }
    }
    let inGrace = history([period(0...30), renewed(36...60)], now: 40)
    #expect(inGrace.milestones(.recoveredInGracePeriod) == [at(36)])
    #expect(inGrace.covers(.gracePeriod, at(33)))
    let later = history([period(0...30), renewed(40...70)], now: 41)
    #expect(later.milestones(.recoveredAfterGracePeriod) == [at(40)])
    #expect(later.covers(.billingRetry, at(33)))
    #expect(later.milestones(.churnedVoluntarily).isEmpty)
  }

  @Test("A purchase after a gap counts as churn and a new start")
  func resubscribed() {
    let again = period(40...70).with { $0.details.transactionReason = .purchase }
    let history = history([period(0...30), again], now: 41)
    #expect(history.milestones(.churnedVoluntarily) == [at(30)])
    #expect(history.milestones(.started) == [at(0), at(40)])
  }

  @Test("A refund is not a churn")
  func refund() {
    let history = history([period(0...30).with { $0.revocationDate = at(9) }], now: 40)
    #expect(history.milestones(.refunded) == [at(9)])
    #expect(history.milestones.map(\.kind).count == 2)
  }

  @Test("A period is at risk from the renewal info with auto-renew off")
  func atRisk() {
    let off = renewal(signed: 12) { $0.autoRenewStatus = .off }
    let history = history([period(0...30)], [off], now: 14)
    #expect(!history.covers(.atRisk, at(11)))
    #expect(history.covers(.atRisk, at(12)))
    #expect(!history.covers(.atRisk, at(30)))
  }

  @Test("Billing retry becomes a churn after 60 days, dated to the end of access")
  func retry() {
    let failed = renewal(signed: 30) { $0.isInBillingRetry = true }
    #expect(history([period(0...30)], [failed], now: 89).milestones(.churnedInvoluntarily).isEmpty)
    #expect(history([period(0...30)], [failed], now: 89).covers(.billingRetry, at(60)))
    #expect(history([period(0...30)], [failed], now: 90).milestones(.churnedInvoluntarily) == [at(30)])
  }

  @Test("Family members and seats are not counted")
  func shared() {
    let shared = period(0...30).with { $0.ownership = .familyShared }
    #expect(history([shared], now: 40).milestones.isEmpty)
    #expect(history([shared], now: 40).spans.isEmpty)
  }

  @Test(
    "Random histories have no duplicate milestones and no inverted spans",
    arguments: UInt64(0)..<200)
  func anyCustomer(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 11_000)
    let history = SubscriptionHistory(
      randomCustomer(&random), in: fullApp, at: at(.random(in: 0...300, using: &random)))
    #expect(Set(history.milestones).count == history.milestones.count)
    for span in history.spans { #expect(span.end.map { span.start < $0 } ?? true) }
  }
}

private func history(
  _ transactions: [TransactionFact], _ renewals: [RenewalFact] = [], now day: Int64
) -> SubscriptionHistory {
  SubscriptionHistory(CustomerFacts(transactions: transactions, renewals: renewals), in: app, at: at(day))
}

extension SubscriptionHistory {
  fileprivate func milestones(_ kind: Milestone.Kind) -> [Instant] {
    milestones.filter { $0.kind == kind }.map(\.at)
  }

  fileprivate func covers(_ kind: Span.Kind, _ instant: Instant) -> Bool {
    spans.contains { $0.kind == kind && $0.covers(instant) }
  }
}
