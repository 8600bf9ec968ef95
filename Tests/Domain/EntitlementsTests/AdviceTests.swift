import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct AdviceTests {
  @Test("A failed payment advises to update billing, during grace and billing retry")
  func updateBilling() throws {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let inGrace = try #require(advice([period(0...30)], failed, on: 40).first)
    #expect(inGrace.kind == .updateBilling)
    #expect(inGrace.url == "https://apps.apple.com/account/billing")
    #expect(inGrace.deadline == at(46))
    #expect(inGrace.daysLeft(at: at(40, hours: 1)) == 5)
    #expect(inGrace.daysLeft(at: at(47)) == 0)
    let inRetry = advice([period(0...30)], failed, on: 50)
    #expect(inRetry.map(\.kind) == [.updateBilling])
    #expect(inRetry.map(\.deadline) == [at(90)])
    #expect(advice([period(0...30)], failed, on: 90).map(\.kind) == [.resubscribe])
  }

  @Test(
    "The days left decrease at the instant reported",
    arguments: [0, 1, 24, 25, 47, 48, 143] as [Int64])
  func daysLeft(hours: Int64) throws {
    let off = renewal(signed: 5) { $0.autoRenewStatus = .off }
    let now = at(24, hours: hours)
    let status = evaluate(
      CustomerFacts(transactions: [period(0...30)], renewals: [off]), entitlement: "pro", in: app, at: now)
    let advice = try #require(status.advice(in: app).first)
    let change = try #require(status.daysLeftChange(after: now))
    let days = try #require(advice.daysLeft(at: now))
    #expect(change > now)
    #expect(advice.daysLeft(at: change.advanced(byMilliseconds: -1)) == days)
    #expect(advice.daysLeft(at: change) == max(0, days - 1))
  }

  @Test("Auto-renew off advises a retention offer with the group's other products until the period ends")
  func retention() {
    let off = renewal(signed: 5) { $0.autoRenewStatus = .off }
    let found = advice([period(0...30)], off, on: 10)
    #expect(found.map(\.kind) == [.retentionOffer])
    #expect(found.map(\.productIDs) == [["plus", "yearly"]])
    #expect(found.map(\.deadline) == [at(30)])
    #expect(found.map(\.url) == ["https://apps.apple.com/account/subscriptions"])
  }

  @Test("A pending price consent is advised until the customer accepts")
  func priceConsent() {
    let asked = renewal(signed: 5) {
      $0.autoRenewStatus = .on
      $0.priceIncreaseStatus = .pending
      $0.details.renewalPrice = 5990
      $0.details.currency = "USD"
    }
    #expect(advice([period(0...30)], asked, on: 10).map(\.kind) == [.priceConsent])
    #expect(advice([period(0...30)], asked, on: 10).map(\.deadline) == [at(30)])
    #expect(pro([period(0...30)], [asked], on: 10).outlook?.price == 5990)
    #expect(pro([period(0...30)], [asked], on: 10).code == 5)
    let agreed = renewal(signed: 6) { $0.priceIncreaseStatus = .accepted }
    #expect(advice([period(0...30)], agreed, on: 10).isEmpty)
  }

  @Test(
    "Voluntary churn advises a win-back offer with Apple's offer ids",
    arguments: [
      ExpirationIntent.customerCancelled, .priceIncreaseNotAccepted,
    ])
  func winBack(intent: ExpirationIntent) {
    let left = renewal(signed: 30) {
      $0.expirationIntent = intent
      $0.details.eligibleWinBackOfferIDs = ["best", "second"]
    }
    let found = advice([period(0...30)], left, on: 40)
    #expect(found.map(\.kind) == [.winBackOffer])
    #expect(found.map(\.offerIDs) == [["best", "second"]])
  }

  @Test("Involuntary churn advises to resubscribe to the same or another product")
  func resubscribe() {
    let failed = renewal(signed: 30) { $0.expirationIntent = .billingError }
    #expect(advice([period(0...30)], failed, on: 40).map(\.productIDs) == [["monthly"]])
    let gone = renewal(signed: 30) { $0.expirationIntent = .productUnavailable }
    #expect(advice([period(0...30)], gone, on: 40).map(\.productIDs) == [["plus", "yearly"]])
    #expect(advice([period(0...30)], gone, on: 40).map(\.kind) == [.resubscribe])
  }

  @Test(
    "Family members get no advice",
    arguments: [
      InAppOwnershipType.familyShared, .assigned,
    ])
  func family(ownership: InAppOwnershipType) {
    let shared = period(0...30).with { $0.ownership = ownership }
    for day in [10, 40, 50, 95] as [Int64] {
      let renewalInfo = renewal(signed: min(day, 30)) {
        $0.autoRenewStatus = .off
        $0.isInBillingRetry = day >= 30
        $0.gracePeriodExpiresDate = day >= 30 ? at(46) : nil
        $0.priceIncreaseStatus = .pending
        $0.details.eligibleWinBackOfferIDs = ["back"]
      }
      #expect(advice([shared], renewalInfo, on: day).isEmpty)
    }
  }

  @Test("A pending downgrade or crossgrade reports the next product until it is cancelled")
  func pendingChange() {
    let pending = renewal(signed: 5) { $0.autoRenewProductID = "yearly" }
    #expect(pro([period(0...30)], [pending], on: 10).outlook?.productID == "yearly")
    let cancelled = renewal(signed: 6) { $0.autoRenewProductID = "monthly" }
    let facts = CustomerFacts(transactions: [period(0...30)], renewals: [cancelled, pending])
    #expect(evaluate(facts, entitlement: "pro", in: app, at: at(10)).outlook?.productID == "monthly")
  }

  @Test("The outlook of a commitment is its next payment, and after the last one its renewal")
  func commitment() {
    func payment(_ number: Int64) -> TransactionFact {
      period(0...30).with {
        $0.details.commitment = .init(billingPeriodNumber: number, totalBillingPeriods: 12)
      }
    }
    let renewalInfo = renewal(signed: 1) {
      $0.autoRenewStatus = .on
      $0.details.renewalPrice = 4990
      var commitment = RenewalDetails.Commitment()
      commitment.autoRenewStatus = .off
      commitment.renewalPrice = 5990
      $0.details.commitment = commitment
    }
    #expect(pro([payment(3)], [renewalInfo], on: 5).willRenew == true)
    #expect(pro([payment(3)], [renewalInfo], on: 5).outlook?.price == 4990)
    #expect(pro([payment(12)], [renewalInfo], on: 5).reason == .subscriptionNotRenewing)
    #expect(pro([payment(12)], [renewalInfo], on: 5).outlook?.price == 5990)
  }
}

private func advice(_ transactions: [TransactionFact], _ renewal: RenewalFact, on day: Int64) -> [Advice] {
  pro(transactions, [renewal], on: day).advice(in: app)
}
