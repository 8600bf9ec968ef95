import AppStore
import JSON
import Testing

@testable import Sandbox

/// Monthly subscriptions with a 12-month commitment. The rules are those of Apple's articles "Supporting monthly
/// subscriptions with a 12-month commitment" and "Managing the life cycle of monthly subscriptions with a 12-month
/// commitment" unless a test names another source.
@Suite struct CommitmentTests {
  private var demo = DemoWorld()

  private static func subscription(
    _ id: String, _ level: Int, _ period: String, _ price: Int64, monthly: Int64? = nil
  ) -> SandboxProduct {
    SandboxProduct(
      productId: id, type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: level,
      period: Period(period), price: price, monthlyPrice: monthly)
  }

  private static let app = SandboxApp(
    id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: 1234),
    products: [
      subscription("top", 1, "P1Y", 99990, monthly: 9990), subscription("gold", 1, "P1M", 9990),
      subscription("yearly", 2, "P1Y", 39990, monthly: 3990),
      subscription("other", 2, "P1Y", 35990, monthly: 3590), subscription("monthly", 2, "P1M", 4990),
      subscription("basic", 3, "P1Y", 19990, monthly: 1990),
    ])

  init() throws {
    // Every second month has no day 31.
    let start = try #require(Instant(rfc3339: "2026-01-31T12:00:00Z"))
    demo.world = World(apps: [Self.app], start: start, firstNumber: 1000, seed: 7)
    demo.world.timing = .exact
    for account in ["ann", "bob"] {
      try demo.act(.storefront, ["account": .string(account), "storefront": "DEU"])
    }
  }

  private mutating func advance(to text: String) throws {
    demo.world.advance(to: try #require(Instant(rfc3339: "\(text)T13:00:00Z")))
  }

  private func date(_ text: String) throws -> Instant { try #require(Instant(rfc3339: "\(text)T12:00:00Z")) }

  /// The signed transaction of the current period.
  private func transaction(_ account: String = "ann") throws -> JWSTransactionDecodedPayload {
    let sold = try demo.sold(demo.line(account).current)
    return try JWSTransactionDecodedPayload(json: demo.world.payload(of: sold, signed: demo.world.now))
  }

  private func renewal(_ account: String = "ann") throws -> JWSRenewalInfoDecodedPayload {
    let line = try demo.line(account)
    return try JWSRenewalInfoDecodedPayload(json: demo.world.payload(of: line, signed: demo.world.now))
  }

  private mutating func setAutoRenewal(_ isOn: Bool) throws {
    try demo.act(
      .autoRenew, ["transactionId": .string(String(try demo.line().id)), "enabled": .bool(isOn)])
  }

  private mutating func setBilling(fails: Bool) throws {
    try demo.act(.billing, ["account": "ann", "fails": .bool(fails)])
  }

  // MARK: Sale

  // The members are those of the sample documents of WWDC26, "What's new in Apple In-App Purchase".
  @Test("The first payment of a commitment covers a month and states the commitment's end and total price")
  mutating func sold() throws {
    try demo.buy("yearly", plan: .monthly)
    let sold = try transaction()
    let renewal = try renewal()
    #expect(sold.billingPlanType == .monthly && sold.price == 3990)
    #expect(try sold.expiresDate == date("2026-02-28"))
    #expect(
      try sold.json["commitmentInfo"] == [
        "billingPeriodNumber": 1, "totalBillingPeriods": 12,
        "commitmentExpiresDate": JSONValue(date("2027-01-31")), "commitmentPrice": 47880,
      ])
    #expect(renewal.autoRenewStatus == .on && renewal.renewalPrice == 3990)
    #expect(renewal.renewalDate == sold.expiresDate && renewal.renewalBillingPlanType == .monthly)
    #expect(
      try renewal.json["commitmentInfo"] == [
        "commitmentAutoRenewProductId": "yearly", "commitmentAutoRenewStatus": 1,
        "commitmentRenewalBillingPlanType": "MONTHLY",
        "commitmentRenewalDate": JSONValue(date("2027-01-31")), "commitmentRenewalPrice": 3990,
      ])
    #expect(demo.notifications() == ["SUBSCRIBED/INITIAL_BUY"])
  }

  @Test("A product billed up front has no commitment")
  mutating func billedUpfront() throws {
    try demo.buy("yearly")
    #expect(try transaction().billingPlanType == .billedUpfront)
    #expect(try transaction().json["commitmentInfo"] == nil)
    #expect(try transaction().expiresDate == date("2027-01-31"))
    #expect(try renewal().renewalBillingPlanType == .billedUpfront)
    #expect(try renewal().json["commitmentInfo"] == nil)
  }

  @Test("The monthly plan is sold only for products that have it, and not in the USA and Singapore")
  mutating func notSold() throws {
    #expect(throws: ActionError.incompleteProduct("gold", missing: "monthly_price")) {
      try demo.buy("gold", plan: .monthly)
    }
    #expect {
      try demo.buy("yearly", "american", plan: .monthly)
    } throws: { "\($0)".contains("not sold in storefront USA") }
  }

  // MARK: Renewal

  @Test("Twelve payments fill the commitment without a gap, and the next one begins a new commitment")
  mutating func renewed() throws {
    try demo.buy("yearly", plan: .monthly)
    for number in 1...12 {
      let sold = try transaction()
      #expect(sold.commitmentInfo?.billingPeriodNumber == Int64(number))
      #expect(try sold.commitmentInfo?.commitmentExpiresDate == date("2027-01-31"))
      let end = try demo.line().expiresDate
      demo.world.advance(to: end)
      #expect(try transaction().purchaseDate == end)
    }
    #expect(try demo.world.now == date("2027-01-31"))
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 1)
    #expect(try transaction().commitmentInfo?.commitmentExpiresDate == date("2028-01-31"))
    #expect(demo.notifications() == ["SUBSCRIBED/INITIAL_BUY"] + Array(repeating: "DID_RENEW", count: 12))
  }

  @Test("At an accelerated rate a commitment takes an hour, and no limit of renewals cuts one short")
  mutating func compressed() throws {
    try demo.act(.periods, ["month": "5m"])
    try demo.buy("yearly", plan: .monthly)
    #expect(try demo.line().commitment?.expiresDate.milliseconds(since: demo.world.now) == 3_600_000)
    demo.pass(days: 1)
    #expect(demo.notifications().filter { $0 == "DID_RENEW" }.count == 23)
    #expect(demo.notifications().last == "EXPIRED/VOLUNTARY")
  }

  // MARK: Cancellation

  @Test("Cancelling a commitment leaves its payments: only the commitment's own renewal status changes")
  mutating func cancelled() throws {
    try demo.buy("yearly", plan: .monthly)
    try advance(to: "2026-05-01")
    try setAutoRenewal(false)
    #expect(demo.notifications().last == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED")
    for _ in 4...12 {
      #expect(try renewal().autoRenewStatus == .on)
      #expect(try renewal().commitmentInfo?.commitmentAutoRenewStatus == .off)
      demo.pass(days: 31)
    }
    #expect(try demo.line().status == .ended(.customerCancelled))
    #expect(try demo.line().expiresDate == date("2027-01-31"))
    #expect(demo.notifications().filter { $0 == "DID_RENEW" }.count == 11)
    #expect(demo.notifications().last == "EXPIRED/VOLUNTARY")
    #expect(try renewal().autoRenewStatus == .off && renewal().expirationIntent == .customerCancelled)
    #expect(try renewal().json["commitmentInfo"] == nil)
  }

  @Test("A cancellation can be withdrawn until the end of the commitment")
  mutating func cancellationWithdrawn() throws {
    try demo.buy("yearly", plan: .monthly)
    try setAutoRenewal(false)
    try advance(to: "2027-01-15")
    try setAutoRenewal(true)
    try advance(to: "2027-02-01")
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 1)
    #expect(
      demo.notifications().suffix(2) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "DID_RENEW"])
  }

  // Apple documents neither, so both are settings.
  @Test("The status in the last period and the subtype of its expiry are configurable")
  mutating func lastPeriod() throws {
    try demo.act(.commitmentRules, ["expiredSubtype": "NONE", "lastPeriodAutoRenewStatus": 0])
    try demo.buy("yearly", plan: .monthly)
    try setAutoRenewal(false)
    try advance(to: "2026-12-30")
    #expect(try renewal().autoRenewStatus == .on)
    try advance(to: "2027-01-01")
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 12)
    #expect(try renewal().autoRenewStatus == .off)
    try advance(to: "2027-02-01")
    #expect(demo.notifications().last == "EXPIRED")
  }

  // MARK: Billing

  @Test("A failed payment has no grace period, is retried for 90 days and then ends the commitment")
  mutating func failed() throws {
    try demo.act(.gracePeriod, ["days": 16])
    try demo.buy("yearly", plan: .monthly)
    try setBilling(fails: true)
    try advance(to: "2026-03-01")
    let until = try date("2026-02-28").advanced(byMilliseconds: 90 * 86_400_000)
    #expect(try demo.line().status == .retry(until: until))
    #expect(try !demo.line().isEntitling && demo.line().appleStatus == .billingRetry)
    #expect(try renewal().isInBillingRetryPeriod == true)
    #expect(try renewal().gracePeriodExpiresDate == nil)
    #expect(try renewal().commitmentInfo?.commitmentAutoRenewStatus == .on)
    demo.pass(days: 90)
    #expect(try demo.line().status == .ended(.billingError))
    #expect(try renewal().isInBillingRetryPeriod == false)
    #expect(try renewal().json["commitmentInfo"] == nil)
    #expect(
      demo.notifications() == ["SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW", "EXPIRED/BILLING_RETRY"])
  }

  @Test("A late payment shifts the end of the commitment and all later payments")
  mutating func recovered() throws {
    try demo.buy("yearly", plan: .monthly)
    try advance(to: "2026-03-20")
    try setBilling(fails: true)
    try advance(to: "2026-05-09")
    try setBilling(fails: false)
    #expect(demo.notifications().last == "DID_RENEW/BILLING_RECOVERY")
    let recovery = try #require(Instant(rfc3339: "2026-05-09T13:00:00Z"))
    #expect(try transaction().purchaseDate == recovery)
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 3)
    let end = try #require(Instant(rfc3339: "2027-03-09T13:00:00Z"))
    #expect(try transaction().commitmentInfo?.commitmentExpiresDate == end)
    try setAutoRenewal(false)
    demo.pass(days: 400)
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 12)
    #expect(try transaction().expiresDate == end)
    #expect(try transaction().commitmentInfo?.commitmentExpiresDate == end)
  }

  @Test("Cancelling during billing retry ends only a renewal that is not owed")
  mutating func cancelledInRetry() throws {
    try demo.buy("yearly", plan: .monthly)
    try setBilling(fails: true)
    try advance(to: "2026-03-10")
    try setAutoRenewal(false)
    #expect(try demo.line().appleStatus == .billingRetry)
    try setBilling(fails: false)
    #expect(try renewal().commitmentInfo?.commitmentAutoRenewStatus == .off)
    try setAutoRenewal(true)
    try advance(to: "2027-02-01")
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 12)
    try setBilling(fails: true)
    try advance(to: "2027-03-01")
    // The retried payment would begin the next commitment.
    #expect(try demo.line().appleStatus == .billingRetry)
    try setAutoRenewal(false)
    #expect(try demo.line().status == .ended(.customerCancelled))
  }

  // MARK: Changes

  @Test("An upgrade ends the commitment at once and refunds the unused part of its current period")
  mutating func upgraded() throws {
    let first = try demo.buy("yearly", plan: .monthly)
    // 14 of the 28 days are over.
    demo.world.advance(to: try date("2026-02-14"))
    let second = try demo.buy("gold")
    #expect(second != first && demo.notifications().last == "DID_CHANGE_RENEWAL_PREF/UPGRADE")
    let old = try demo.sold(first)
    #expect(old.isUpgraded && old.revocation?.type == .refundProrated)
    #expect(old.revocation?.percentage == 50_000)
    #expect(try transaction().productId == "gold" && transaction().json["commitmentInfo"] == nil)
    #expect(try renewal().json["commitmentInfo"] == nil)
    #expect(throws: ActionError.notPossible("transaction \(first) was refunded by an upgrade")) {
      try demo.act(.reverseRefund, ["transactionId": .string(String(first))])
    }
    let third = try demo.buy("top", plan: .monthly)
    #expect(third == second)
    try advance(to: "2026-03-15")
    #expect(try transaction().productId == "top")
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 1)
  }

  @Test("A downgrade waits for the end of the twelve months")
  mutating func downgraded() throws {
    try demo.buy("yearly", plan: .monthly)
    try advance(to: "2026-04-15")
    try demo.buy("basic")
    #expect(demo.notifications().last == "DID_CHANGE_RENEWAL_PREF/DOWNGRADE")
    #expect(try renewal().autoRenewProductId == "yearly" && renewal().renewalPrice == 3990)
    let next = try #require(try renewal().commitmentInfo)
    #expect(next.commitmentAutoRenewProductId == "basic" && next.commitmentRenewalPrice == 19990)
    #expect(next.commitmentRenewalBillingPlanType == .billedUpfront)
    try advance(to: "2027-01-30")
    #expect(try transaction().productId == "yearly" && transaction().price == 3990)
    try advance(to: "2027-02-01")
    #expect(try transaction().productId == "basic" && transaction().price == 19990)
    #expect(try transaction().expiresDate == date("2028-01-31"))
    #expect(try transaction().billingPlanType == .billedUpfront)
    #expect(try renewal().json["commitmentInfo"] == nil)
  }

  // The timing of crossgrades is the one of durations, applied to billing plans; Apple's table is not public.
  @Test(
    "A crossgrade is immediate only between equal durations and billing plans",
    arguments: [
      ("yearly", .monthly, "other", .monthly, true), ("yearly", .monthly, "other", .billedUpfront, false),
      ("yearly", .monthly, "yearly", .billedUpfront, false),
      ("yearly", .monthly, "monthly", .billedUpfront, false),
      ("yearly", .billedUpfront, "yearly", .monthly, false),
      ("monthly", .billedUpfront, "yearly", .monthly, false),
    ] as [(String, BillingPlan, String, BillingPlan, Bool)])
  mutating func crossgraded(
    from: String, oldPlan: BillingPlan, to: String, newPlan: BillingPlan, isImmediate: Bool
  ) throws {
    let first = try demo.buy(from, plan: oldPlan)
    demo.pass(days: 10)
    let second = try demo.buy(to, plan: newPlan)
    #expect((second != first) == isImmediate)
    try advance(to: "2027-02-01")
    let sold = try transaction()
    #expect(sold.productId == to)
    #expect(sold.billingPlanType?.rawValue == newPlan.rawValue)
    #expect((sold.commitmentInfo != nil) == (newPlan == .monthly))
  }

  @Test("Ordering the current plan again withdraws a change")
  mutating func withdrawnChange() throws {
    let id = try demo.buy("yearly", plan: .monthly)
    try demo.buy("basic", plan: .monthly)
    #expect(try demo.buy("yearly", plan: .monthly) == id)
    #expect(demo.notifications().last == "DID_CHANGE_RENEWAL_PREF")
    #expect(try renewal().commitmentInfo?.commitmentAutoRenewProductId == "yearly")
  }

  @Test("A renewal date extension shifts the commitment's end")
  mutating func extended() throws {
    let id = try demo.buy("yearly", plan: .monthly)
    try demo.act(.extend, ["transactionId": .string(String(id)), "days": 10])
    #expect(try transaction().expiresDate == date("2026-03-10"))
    #expect(try transaction().commitmentInfo?.commitmentExpiresDate == date("2027-02-10"))
    try advance(to: "2026-03-11")
    #expect(try transaction().expiresDate == date("2026-04-10"))
    #expect(try transaction().commitmentInfo?.commitmentExpiresDate == date("2027-02-10"))
  }

  // MARK: Refunds

  @Test(
    "A refund of an earlier period concerns only its transaction, one of the current period ends the commitment"
  )
  mutating func refunded() throws {
    let first = try demo.buy("yearly", plan: .monthly)
    try advance(to: "2026-04-15")
    try demo.act(.refund, ["transactionId": .string(String(first))])
    #expect(try demo.sold(first).revocation != nil)
    #expect(try demo.line().status == .active && renewal().commitmentInfo != nil)
    try advance(to: "2026-05-15")
    #expect(demo.notifications().suffix(2) == ["REFUND", "DID_RENEW"])
    let current = try demo.line().current
    try demo.act(.refund, ["transactionId": .string(String(current))])
    #expect(try demo.line().status == .revoked)
    #expect(try transaction().revocationDate == demo.world.now)
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 4)
    #expect(try renewal().json["commitmentInfo"] == nil && renewal().autoRenewStatus == .off)
    demo.pass(days: 400)
    #expect(demo.notifications().last == "REFUND")
  }

  @Test("A reversed refund restores the period but not the commitment")
  mutating func refundReversed() throws {
    let id = JSONValue.string(String(try demo.buy("yearly", plan: .monthly)))
    try demo.act(.refund, ["transactionId": id])
    try demo.act(.reverseRefund, ["transactionId": id])
    #expect(try demo.line().status == .active && renewal().autoRenewStatus == .off)
    try advance(to: "2026-03-01")
    #expect(demo.notifications().suffix(2) == ["REFUND_REVERSED", "EXPIRED/VOLUNTARY"])
  }

  @Test("A refund request cancels only the renewal of the commitment")
  mutating func refundRequested() throws {
    let id = try demo.buy("yearly", plan: .monthly)
    try demo.act(.requestConsumption, ["transactionId": .string(String(id))])
    #expect(try renewal().autoRenewStatus == .on)
    #expect(try renewal().commitmentInfo?.commitmentAutoRenewStatus == .off)
  }

  // MARK: Prices and offers

  @Test("A price increase applies after the commitment, and without consent ends the subscription there")
  mutating func prices() throws {
    for account in ["ann", "bob"] { try demo.buy("yearly", account, plan: .monthly) }
    let price: JSONObject = [
      "productId": "yearly", "price": 4490, "billingPlanType": "MONTHLY", "needsConsent": true,
      "notice": "0s",
    ]
    try demo.act(.price, price)
    let bob = JSONValue.string(String(try demo.line("bob").id))
    try demo.act(.priceConsent, ["transactionId": bob, "agreed": true])
    #expect(try renewal().renewalPrice == 3990 && renewal().priceIncreaseStatus == .pending)
    #expect(try renewal().commitmentInfo?.commitmentRenewalPrice == 4490)
    try advance(to: "2027-01-15")
    #expect(try transaction().price == 3990 && transaction("bob").price == 3990)
    try advance(to: "2027-02-01")
    #expect(demo.notifications().last == "EXPIRED/PRICE_INCREASE")
    #expect(try transaction("bob").price == 4490)
    #expect(try transaction("bob").commitmentInfo?.commitmentPrice == 12 * 4490)
  }

  @Test("A price of the other billing plan does not concern a subscriber")
  mutating func otherPrice() throws {
    try demo.buy("yearly", plan: .monthly)
    try demo.act(.price, ["productId": "yearly", "price": 49990, "needsConsent": true, "notice": "0s"])
    #expect(demo.notifications() == ["SUBSCRIBED/INITIAL_BUY"])
  }

  @Test("A withdrawn product is paid until the end of the commitment")
  mutating func withdrawn() throws {
    try demo.buy("yearly", plan: .monthly)
    try demo.act(.withdraw, ["productId": "yearly"])
    try advance(to: "2027-01-30")
    #expect(try demo.line().status == .active)
    try advance(to: "2027-02-01")
    #expect(demo.notifications().last == "EXPIRED/PRODUCT_NOT_FOR_SALE")
  }

  @Test("Offers belong to one billing plan; a discount of payments is part of the commitment")
  mutating func discount() throws {
    try demo.act(
      .offers,
      [
        "productId": "yearly", "id": "start", "type": "INTRODUCTORY", "mode": "PAY_AS_YOU_GO",
        "period": "P1M",
        "periods": 3, "price": 990, "billingPlanType": "MONTHLY",
      ])
    #expect(throws: ActionError.unknown(what: "offer", name: "start", known: [])) {
      try demo.buy("yearly", offer: "start")
    }
    try demo.buy("yearly", offer: "start", plan: .monthly)
    #expect(try transaction().price == 990 && transaction().commitmentInfo?.commitmentPrice == 47880)
    try advance(to: "2026-04-15")
    #expect(try transaction().commitmentInfo?.billingPeriodNumber == 3)
    #expect(try transaction().price == 990 && renewal().renewalPrice == 3990)
    try advance(to: "2026-05-15")
    #expect(try transaction().price == 3990)
  }

  // Apple does not document how a trial and a commitment combine.
  @Test("A free trial precedes the twelve payments and can be cancelled")
  mutating func trial() throws {
    try demo.act(
      .offers,
      [
        "productId": "yearly", "id": "trial", "type": "INTRODUCTORY", "mode": "FREE_TRIAL", "period": "P1W",
        "billingPlanType": "MONTHLY",
      ])
    for account in ["ann", "bob"] { try demo.buy("yearly", account, offer: "trial", plan: .monthly) }
    #expect(try transaction().billingPlanType == .monthly && transaction().commitmentInfo == nil)
    try setAutoRenewal(false)
    #expect(try renewal().autoRenewStatus == .off)
    try advance(to: "2026-02-08")
    #expect(demo.notifications().last == "EXPIRED/VOLUNTARY")
    #expect(try transaction("bob").commitmentInfo?.billingPeriodNumber == 1)
    #expect(try transaction("bob").commitmentInfo?.commitmentExpiresDate == date("2027-02-07"))
  }

  // MARK: Sharing

  @Test("Family members have the periods of the commitment")
  mutating func shared() throws {
    try demo.act(.shareable, ["productId": "yearly"])
    for account in ["ann", "mia"] { try demo.act(.joinFamily, ["account": .string(account), "family": "f"]) }
    try demo.buy("yearly", plan: .monthly)
    try advance(to: "2026-03-15")
    let member = try #require(demo.world.subscriptions(of: "mia", in: "demo").first)
    #expect(try demo.sold(member.current).commitment?.number == 2)
    #expect(demo.notifications("mia") == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW"])
    try demo.act(.refund, ["transactionId": .string(String(try demo.line().current))])
    #expect(demo.notifications("mia").last == "REVOKE")
  }
}
