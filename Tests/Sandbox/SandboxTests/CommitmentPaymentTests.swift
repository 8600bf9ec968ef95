import AppStore
import JSON
import Testing

@testable import Sandbox

/// Failed, refunded and shared payments of a commitment.
@Suite struct CommitmentPaymentTests: CommitmentSuite {
  var demo: DemoWorld

  init() throws { demo = try .sellingCommitments() }

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
