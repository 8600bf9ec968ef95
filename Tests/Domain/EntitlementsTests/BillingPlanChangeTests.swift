import AppStore
import Entitlements
import TestSupport
import Testing

/// Changes between the two billing plans of a one-year product: paid up front, or in monthly payments.
@Suite struct BillingPlanChangeTests {
  /// A period of the product: a payment of a commitment if `isMonthly`.
  private func paid(
    _ days: ClosedRange<Int64>, _ id: String, isMonthly: Bool, _ reason: TransactionReason
  ) -> TransactionFact {
    period(days, "yearly", id: id).with {
      $0.details.transactionReason = reason
      $0.details.billingPlanType = isMonthly ? .monthly : .billedUpfront
      guard isMonthly else { return }
      $0.details.commitment = .init(billingPeriodNumber: 1, totalBillingPeriods: 12)
    }
  }

  /// A period, its renewal that was charged before it starts on day 30, and the change to the other plan on day 29.
  private func life(toMonthly: Bool, isMarked: Bool) -> [TransactionFact] {
    let renewed = paid(30...60, "R", isMonthly: !toMonthly, .renewal).with {
      $0.isUpgraded = isMarked
      // The notification of the change has no document about it.
      $0.signedDate = at(isMarked ? 29 : 28)
    }
    return [
      paid(0...30, "P", isMonthly: !toMonthly, .purchase), renewed,
      paid(29...59, "U", isMonthly: toMonthly, .purchase),
    ]
  }

  @Test(
    "A change of the billing plan takes the place of a renewal that was charged and has not begun",
    arguments: [(true, false), (true, true), (false, false), (false, true)])
  func replacesRenewal(toMonthly: Bool, isMarked: Bool) {
    let facts = life(toMonthly: toMonthly, isMarked: isMarked)
    #expect(pro(facts, on: 28).deciding?.transactionID == "P")
    for day in [29, 30, 45, 58] as [Int64] {
      let status = pro(facts, on: day)
      #expect(status.isEntitled && status.deciding?.transactionID == "U", "day \(day)")
      #expect(status.until == at(59) && status.paidUntil == at(59), "day \(day)")
    }
    #expect(pro(facts, on: 59).reason == .expired)
    #expect(CustomerFacts(transactions: facts).latestPeriod?.transaction.transactionID == "U")
  }

  @Test("The order in which the documents of a plan change arrive does not matter")
  func order() {
    let facts = life(toMonthly: true, isMarked: false) + life(toMonthly: true, isMarked: true)
    let expected = CustomerFacts(transactions: facts)
    for first in facts.indices {
      for second in facts.indices where second != first {
        var known = CustomerFacts()
        known.insert(facts[first])
        known.insert(facts[second])
        for fact in facts.reversed() { known.insert(fact) }
        #expect(known == expected, "\(first) and \(second) first")
      }
    }
    #expect(evaluate(expected, entitlement: "pro", in: app, at: at(45)).deciding?.transactionID == "U")
  }

  @Test(
    "Renewal info about the renewal that was replaced is none about the new plan", arguments: [true, false])
  func renewalInfo(isMarked: Bool) {
    let facts = life(toMonthly: true, isMarked: isMarked)
    let old = renewal(signed: 28) {
      $0.autoRenewStatus = .off
      $0.renewalDate = at(60)
    }
    #expect(pro(facts, [old], on: 28).willRenew == false)
    #expect(pro(facts, [old], on: 40).willRenew == nil)
    let new = renewal(signed: 29) {
      $0.autoRenewStatus = .on
      $0.renewalDate = at(59)
    }
    #expect(pro(facts, [old, new], on: 40).willRenew == true)
  }

  private func changes(
    _ before: [TransactionFact], _ after: [TransactionFact], on day: Int64
  ) -> [EntitlementChange] {
    let (before, after) = (CustomerFacts(transactions: before), CustomerFacts(transactions: after))
    return EntitlementChange.changes(
      of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(day)),
      to: evaluate(after, entitlement: "pro", in: app, at: at(day)), by: .evidence, at: at(day),
      facts: FactsChange(from: before, to: after, by: .evidence).granting("pro", in: app))
  }

  @Test(
    "No event is about the renewal that a plan change replaced, although it ends later",
    arguments: [true, false])
  func events(isMarked: Bool) {
    let life = life(toMonthly: true, isMarked: isMarked)
    let changed = changes([life[0]], life, on: 29)
    #expect(changed.map(\.kind) == [.renewed] && changed.map(\.subject?.transactionID) == ["U"])
    let refunded = life.map { fact in
      fact.with { if fact.transactionID == "R" { $0.revocationDate = at(29) } }
    }
    let next = paid(59...89, "U2", isMonthly: true, .renewal)
    #expect(changes(refunded, refunded + [next], on: 61).map(\.kind) == [.renewed], "U ended on day 59")
    let gained = FactsChange(from: CustomerFacts(), to: CustomerFacts(transactions: life), by: .claim)
    let claims = EntitlementChange.claims(in: gained, of: app, at: at(40), besides: []) { _ in
      pro(life, on: 40)
    }
    #expect(claims.map(\.subject?.transactionID) == ["U"])
  }

  @Test("A plan change at the renewal, charged a day early, is the next period")
  func atRenewal() {
    let facts = [
      paid(0...30, "P", isMonthly: true, .purchase),
      paid(30...60, "R", isMonthly: false, .renewal).with { $0.signedDate = at(29) },
    ]
    #expect(pro(facts, on: 29).deciding?.transactionID == "P")
    #expect(pro(facts, on: 30).deciding?.transactionID == "R")
    #expect(pro(facts, on: 30).until == at(60))
  }

  @Test("Payments of minutes, as Apple's sandbox has them, do not replace the renewal to the other plan")
  func compressed() {
    func minutes(_ count: Int64) -> Instant { at(0).advanced(byMilliseconds: count * 60_000) }
    let facts = (Int64(0)..<3).map { number in
      let isMonthly = number < 2
      return paid(0...1, "T\(number)", isMonthly: isMonthly, number == 0 ? .purchase : .renewal).with {
        $0.purchaseDate = minutes(number * 5)
        $0.expiresDate = minutes(number * 5 + (isMonthly ? 5 : 60))
        $0.signedDate = minutes(number * 5 - 1)
      }
    }
    func deciding(_ minute: Int64) -> String? {
      evaluate(
        CustomerFacts(transactions: facts), entitlement: "pro", in: app, at: minutes(minute)
      ).deciding?.transactionID
    }
    #expect([1, 6, 11, 69].map(deciding) == ["T0", "T1", "T2", "T2"])
  }
}
