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
    #expect(found.map(\.productIDs) == [["yearly"]], "plus is of a higher level")
    #expect(found.map(\.deadline) == [at(30)])
    #expect(found.map(\.url) == ["https://apps.apple.com/account/subscriptions"])
  }

  @Test("A retention offer ends with the purchase it is about, whatever another one grants afterwards")
  func retentionBesideOthers() {
    let off = renewal(signed: 5) { $0.autoRenewStatus = .off }
    let own = period(0...30)
    let others = [
      period(0...365, line: "S").with { $0.ownership = .familyShared },
      period(20...60, "yearly", line: "L2"),
    ]
    for other in others {
      let answer = pro([own, other], [off], on: 10)
      #expect(answer.reason == .subscriptionNotRenewing && answer.until! > at(30))
      #expect(answer.paidUntil == answer.until && answer.actBy == at(30))
    }
    // Turned off after Apple charged for the next period.
    let charged = [own, period(30...60), others[0]]
    let later = renewal(signed: 29, line: "L1") { ($0.autoRenewStatus, $0.renewalDate) = (.off, at(60)) }
    #expect(pro(charged, [later], on: 29).actBy == at(60))
  }

  @Test("A retention offer names no product that is dearer for the same time, and the promotional offers")
  func retentionPrices() throws {
    func product(
      _ id: String, _ price: Int64, _ period: String, _ currency: String = "USD", level: Int = 1
    ) throws -> ProductDefinition {
      ProductDefinition(
        productID: id, type: .autoRenewableSubscription, subscriptionGroup: "pro", level: level,
        accessLevels: ["pro": .full], offers: id == "monthly" ? ["stay50", "back3"] : [],
        price: SubscriptionPrice(
          milliunits: price, currency: currency, period: try #require(Period(period))))
    }
    let priced = AppDefinition(
      id: "ocean", identity: app.identity, environments: [.sandbox],
      products: [
        try product("monthly", 4990, "P1M", level: 2), try product("yearly", 39_990, "P1Y"),
        try product("weekly", 1990, "P1W", level: 3), try product("weekly.basic", 990, "P1W", level: 3),
        try product("monthly.gold", 9990, "P1M"), try product("monthly.euro", 100, "P1M", "EUR"),
      ])
    let off = renewal(signed: 5) { $0.autoRenewStatus = .off }
    let facts = CustomerFacts(transactions: [period(0...30)], renewals: [off])
    let status = evaluate(facts, entitlement: "pro", in: priced, at: at(10))
    #expect(status.advice(in: priced).map(\.productIDs) == [["yearly", "weekly.basic"]])
    #expect(status.advice(in: priced).map(\.offerIDs) == [["stay50", "back3"]])

    let failed = renewal(signed: 30) { $0.expirationIntent = .billingError }
    let left = renewal(signed: 30) { $0.expirationIntent = .customerCancelled }
    let eligible = renewal(signed: 30) {
      $0.expirationIntent = .customerCancelled
      $0.details.eligibleWinBackOfferIDs = ["best"]
    }
    for (info, offers) in [
      (failed, ["stay50", "back3"]), (left, ["stay50", "back3"]), (eligible, ["best"]),
    ] {
      let facts = CustomerFacts(transactions: [period(0...30)], renewals: [info])
      let status = evaluate(facts, entitlement: "pro", in: priced, at: at(40))
      #expect(status.advice(in: priced).map(\.offerIDs) == [offers])
    }
  }

  @Test("The customer who pays gets the link to manage the subscription while it is active")
  func manageLink() {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let bought = [period(0...30)]
    #expect(pro(bought, [failed], on: 10).manageURL == "https://apps.apple.com/account/subscriptions")
    #expect(pro(bought, [failed], on: 40).manageURL != nil)
    #expect(pro(bought, [failed], on: 50).manageURL == nil)
    #expect(pro([period(0...30).with { $0.ownership = .familyShared }], on: 10).manageURL == nil)
    #expect(pro([purchase("lifetime", .nonConsumable, on: 0)], on: 10).manageURL == nil)
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
}

private func advice(_ transactions: [TransactionFact], _ renewal: RenewalFact, on day: Int64) -> [Advice] {
  pro(transactions, [renewal], on: day).advice(in: app)
}
