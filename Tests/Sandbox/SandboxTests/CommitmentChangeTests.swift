import AppStore
import JSON
import Testing

@testable import Sandbox

/// Changes of the plan of a commitment.
@Suite struct CommitmentChangeTests: CommitmentSuite {
  var demo: DemoWorld

  init() throws { demo = try .sellingCommitments() }

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
}
