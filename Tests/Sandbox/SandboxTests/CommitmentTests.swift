import AppStore
import JSON
import Testing

@testable import Sandbox

/// The life of a commitment: its sale, its payments and its cancellation.
@Suite struct CommitmentTests: CommitmentSuite {
  var demo: DemoWorld

  init() throws { demo = try .sellingCommitments() }

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
}
