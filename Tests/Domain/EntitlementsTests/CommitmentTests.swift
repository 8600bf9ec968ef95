import AppStore
import Entitlements
import Reports
import TestSupport
import Testing

/// Monthly subscriptions with a 12-month commitment (Apple: Managing the life cycle of monthly subscriptions with a
/// 12-month commitment).
@Suite struct CommitmentTests {
  /// One monthly payment; the commitment began on day 0 and ends on day 360.
  private func payment(_ number: Int64, _ change: (inout TransactionFact) -> Void = { _ in })
    -> TransactionFact
  {
    period((number - 1) * 30...number * 30, "yearly").with {
      $0.details.billingPlanType = .monthly
      $0.details.commitment = .init(
        billingPeriodNumber: number, totalBillingPeriods: 12, expiresDate: at(360), price: 47_880)
      change(&$0)
    }
  }

  private func info(
    signed day: Int64, renews: AutoRenewStatus = .on, _ change: (inout RenewalFact) -> Void = { _ in }
  ) -> RenewalFact {
    renewal(signed: day) {
      $0.productID = "yearly"
      $0.autoRenewStatus = .on
      $0.details.billingPlanType = .monthly
      $0.details.renewalPrice = 3990
      $0.details.currency = "USD"
      var commitment = RenewalDetails.Commitment()
      commitment.autoRenewStatus = renews
      commitment.autoRenewProductID = "monthly"
      commitment.renewalPrice = 4990
      commitment.renewalDate = at(360)
      $0.details.commitment = commitment
      change(&$0)
    }
  }

  @Test("The status of the commitment decides whether the subscription renews, from the first payment on")
  func renewalStatus() {
    for number in [Int64(1), 5, 11, 12] {
      let day = number * 30 - 15
      let cancelled = pro([payment(number)], [info(signed: day - 5, renews: .off)], on: day)
      #expect(cancelled.reason == .subscriptionNotRenewing && cancelled.code == 4)
      #expect(cancelled.until == at(number * 30), "access is judged by the end of the period")
      let active = pro([payment(number)], [info(signed: day - 5)], on: day)
      #expect(active.reason == .subscriptionActive && active.outlook?.willRenew == true)
      #expect(active.outlook?.productID == "monthly" && active.outlook?.price == 4990)
    }
  }

  @Test(
    "A payment after a cancellation takes nothing back, until its own renewal info arrives and afterwards")
  func paymentAfterCancellation() {
    let cancelled = info(signed: 70, renews: .off) { $0.renewalDate = at(90) }
    let paid = payment(4) { $0.details.transactionReason = .renewal }
    let next = info(signed: 91, renews: .off) { $0.renewalDate = at(120) }
    var facts = CustomerFacts(
      transactions: [payment(3)], renewals: [info(signed: 61) { $0.renewalDate = at(90) }])
    var kinds: [EntitlementChange.Kind] = []
    func arrive(on day: Int64, hours: Int64 = 0, _ change: (inout CustomerFacts) -> Void) {
      let before = facts
      change(&facts)
      let now = at(day, hours: hours)
      kinds += EntitlementChange.changes(
        of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: now),
        to: evaluate(facts, entitlement: "pro", in: app, at: now), by: .evidence, at: now,
        facts: FactsChange(from: before, to: facts, by: .evidence)
      ).map(\.kind)
    }
    arrive(on: 71) { $0.insert(cancelled) }
    arrive(on: 89) { $0.insert(paid) }
    let (before, after) = (pro(facts, on: 89), pro(facts, on: 90))
    #expect(before.willRenew == false && after.willRenew == false && after.reason == .subscriptionNotRenewing)
    kinds += EntitlementChange.changes(
      of: "pro", from: before, to: after, by: .time, at: at(90),
      facts: FactsChange(from: facts, to: facts, by: .time)
    ).map(\.kind)
    arrive(on: 91) { $0.insert(next) }
    #expect(kinds == [.renewalTurnedOff, .renewed])
  }

  @Test("A failed payment ends access at once, also with an operator's grace for the product")
  func failedPayment() {
    let failed = info(signed: 90) { $0.isInBillingRetry = true }
    func answer(_ paid: TransactionFact) -> EntitlementStatus {
      evaluate(
        CustomerFacts(transactions: [paid], renewals: [failed]), entitlement: "pro", in: fullApp, at: at(91))
    }
    #expect(answer(payment(3)).reason == .billingRetry)
    #expect(answer(period(60...90, "yearly")).reason == .inOperatorGracePeriod, "without a commitment")
  }

  @Test("A recovered payment keeps the cancellation, and a new commitment or a plain renewal does not")
  func otherCommitment() {
    let cancelled = info(signed: 70, renews: .off) {
      ($0.renewalDate, $0.isInBillingRetry) = (at(90), true)
    }
    func renews(_ next: TransactionFact) -> Bool? {
      pro([payment(3), next], [cancelled], on: 121).willRenew
    }
    let recovered = payment(4) {
      ($0.purchaseDate, $0.expiresDate) = (at(120), at(150))
      $0.details.commitment?.expiresDate = at(390)
    }
    #expect(renews(recovered) == false)
    let new = payment(1) {
      ($0.transactionID, $0.purchaseDate, $0.expiresDate) = ("N", at(120), at(150))
      $0.details.commitment?.expiresDate = at(480)
    }
    #expect(renews(new) == nil)
    let fifth = payment(5) { $0.details.commitment?.expiresDate = at(480) }
    #expect(renews(fifth) == nil)
    #expect(renews(period(120...150, "yearly")) == nil)
  }

  private func pro(_ facts: CustomerFacts, on day: Int64) -> EntitlementStatus {
    evaluate(facts, entitlement: "pro", in: app, at: at(day))
  }

  private func pro(
    _ transactions: [TransactionFact], _ renewals: [RenewalFact] = [], on day: Int64
  ) -> EntitlementStatus {
    pro(CustomerFacts(transactions: transactions, renewals: renewals), on: day)
  }

  @Test("An answer names the commitment, its end and the number of the payment")
  func answer() {
    let status = pro([payment(5)], [info(signed: 125, renews: .off)], on: 130)
    #expect(status.deciding?.billingPlanType == .monthly)
    #expect(
      status.deciding?.commitment
        == .init(billingPeriodNumber: 5, totalBillingPeriods: 12, expiresDate: at(360), price: 47_880))
    #expect(status.sentence.contains("until the commitment ends"))
    let last = pro([payment(12)], [info(signed: 340, renews: .off)], on: 350)
    #expect(last.sentence == EntitlementReason.subscriptionNotRenewing.sentence)
    #expect(pro([period(0...30)], on: 5).deciding?.commitment == nil)
  }

  @Test("The payments that are left are due while the customer has access or Apple retries a payment")
  func forecast() {
    let paid = payment(5) {
      $0.details.price = 3990
      $0.details.currency = "USD"
    }
    let status = pro([paid], [info(signed: 125)], on: 130)
    #expect(status.owesPayments && status.deciding?.payment == 3990 && status.deciding?.currency == "USD")
    #expect(status.deciding?.commitment?.remainingPeriods == 7)
    #expect(status.deciding?.commitment?.remainingPrice(at: status.deciding?.payment) == 27_930)
    let retried = pro([paid], [info(signed: 150) { $0.isInBillingRetry = true }], on: 155)
    #expect(!retried.isEntitled && retried.owesPayments)
    let refunded = pro([payment(5) { $0.revocationDate = at(125) }], [info(signed: 125)], on: 130)
    #expect(!refunded.isEntitled && !refunded.owesPayments)
    let plain = pro([period(0...30).with { $0.details.price = 3990 }], on: 5)
    #expect(!plain.owesPayments && plain.deciding?.payment == nil)
  }

  @Test("Numbers beyond their range have no forecast")
  func limits() {
    let huge = TransactionDetails.Commitment(billingPeriodNumber: -2, totalBillingPeriods: .max)
    #expect(huge.remainingPeriods == 0 && huge.remainingPrice(at: 1) == 0)
    let many = TransactionDetails.Commitment(billingPeriodNumber: 0, totalBillingPeriods: .max)
    #expect(many.remainingPrice(at: 2) == nil && many.remainingPrice(at: nil) == nil)
    #expect(
      TransactionDetails.Commitment(billingPeriodNumber: 13, totalBillingPeriods: 12).remainingPeriods == 0)
  }

  @Test(
    "Retention is advised in the last two periods only, until the end of the commitment", arguments: 1...12)
  func retention(number: Int64) {
    let day = number * 30 - 15
    let status = pro([payment(number)], [info(signed: day - 5, renews: .off)], on: day)
    let found = status.advice(in: app)
    #expect(found.map(\.kind) == (number >= 11 ? [.retentionOffer] : []))
    #expect(found.map(\.deadline) == (number >= 11 ? [at(360)] : []))
    #expect(status.actBy == (number >= 11 ? at(360) : nil))
  }

  @Test("A cancelled commitment is at risk in its last two periods only")
  func atRisk() {
    let facts = CustomerFacts(
      transactions: (1...12).map { payment($0) },
      renewals: [info(signed: 40, renews: .off)]
        + (2...12).map { info(signed: $0 * 30 - 29, renews: .off) })
    let risk = postings(facts, on: 361).filter { $0.kind == .atRisk }
    #expect(risk.filter { $0.count > 0 }.map(\.effectiveAt).min() == at(301))
    #expect(risk.filter { $0.count < 0 }.map(\.effectiveAt).max() == at(360))
  }

  @Test(
    "A failed payment has no grace and no slack; billing retry lasts 90 days, then the payment failed for good"
  )
  func failed() {
    let patient = RenewalPolicy(slack: 3_600_000, clockTolerance: 0)
    let slack = AppDefinition(
      id: "ocean", identity: app.identity, environments: [.sandbox], products: Array(app.products.values),
      renewalPolicy: patient)
    let facts = CustomerFacts(transactions: [payment(3)], renewals: [info(signed: 70)])
    #expect(!evaluate(facts, entitlement: "pro", in: slack, at: at(90)).isEntitled)
    let retried = info(signed: 90) { $0.isInBillingRetry = true }
    for (day, reason) in [
      (Int64(91), EntitlementReason.billingRetry), (179, .billingRetry), (180, .billingLapsed),
    ] {
      #expect(pro([payment(3)], [info(signed: 70), retried], on: day).reason == reason)
    }
    #expect(pro([payment(3)], [retried], on: 100).actBy == at(180))
  }

  @Test("The plan of the failed payment decides how long it is retried")
  func retryOfNextPlan() {
    let upfront = info(signed: 360) {
      $0.isInBillingRetry = true
      $0.details.billingPlanType = .billedUpfront
    }
    #expect(pro([payment(12)], [upfront], on: 415).reason == .billingRetry)
    #expect(pro([payment(12)], [upfront], on: 425).reason == .billingLapsed)
    let monthly = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.details.billingPlanType = .monthly
    }
    #expect(pro([period(0...30)], [monthly], on: 100).reason == .billingRetry)
  }

  @Test("A payment that is recovered after 80 days is a recovery")
  func recovered() throws {
    let late = payment(4) {
      $0.purchaseDate = at(170)
      $0.expiresDate = at(200)
      $0.details.transactionReason = .renewal
      $0.details.commitment?.expiresDate = at(440)
    }
    let retried = info(signed: 90) { $0.isInBillingRetry = true }
    let before = CustomerFacts(transactions: [payment(3)], renewals: [retried])
    var after = before
    after.insert(late)
    after.insert(info(signed: 170))
    let changes = EntitlementChange.changes(
      of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(170)),
      to: evaluate(after, entitlement: "pro", in: app, at: at(170)), by: .evidence, at: at(170),
      facts: FactsChange(from: before, to: after, by: .evidence))
    #expect(changes.map(\.kind) == [.recovered])
    #expect(changes.first?.after.deciding?.commitment?.expiresDate == at(440))
    #expect(movements(after, on: 175) == [.startedPaid, .lapsedBilling, .recovered])
  }

  @Test("A cancellation is an event when it is signed, and a cancelled commitment that ends was cancelled")
  func cancelled() {
    let before = CustomerFacts(transactions: [payment(3)], renewals: [info(signed: 61)])
    var after = before
    after.insert(info(signed: 70, renews: .off))
    func changes(_ from: CustomerFacts, _ to: CustomerFacts, _ day: Int64) -> [EntitlementChange.Kind] {
      EntitlementChange.changes(
        of: "pro", from: evaluate(from, entitlement: "pro", in: app, at: at(day)),
        to: evaluate(to, entitlement: "pro", in: app, at: at(day)), by: .evidence, at: at(day),
        facts: FactsChange(from: from, to: to, by: .evidence)
      ).map(\.kind)
    }
    #expect(changes(before, after, 70) == [.renewalTurnedOff])
    var paid = after
    paid.insert(payment(4))
    paid.insert(info(signed: 90, renews: .off))
    #expect(changes(after, paid, 90) == [.renewed])
    #expect(pro([payment(12)], [info(signed: 340, renews: .off)], on: 361).reason == .cancelled)
    #expect(pro([payment(3)], [info(signed: 61, renews: .off)], on: 91).reason == .expired)
  }
}
