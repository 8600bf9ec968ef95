import AppStore
import JSON
import Testing

@testable import Sandbox

/// The times of charges and of announcements of failures.
@Suite struct RenewalTimingTests {
  private var demo = DemoWorld()

  init() { demo.world.timing = RenewalTiming() }

  /// Lets ann's charges fail from 24 hours before the end of a month that begins now; returns the time of the charge.
  private mutating func failEarlyCharge() throws -> Instant {
    try demo.act(.gracePeriod, ["days": 16])
    try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    let charge = try demo.line().chargeDate
    demo.world.advance(to: charge)
    return charge
  }

  // "In-App Purchase Programming Guide": the App Store charges within the last 24 hours of the period.
  @Test(
    "Renewals are charged at different times of the last 24 hours, and their periods begin at the end of the old"
  )
  mutating func chargedEarly() throws {
    var leads: Set<Int64> = []
    for number in 0..<50 {
      let account = "customer-\(number)"
      let first = try demo.buy("monthly", account)
      let line = try demo.line(account)
      leads.insert(line.expiresDate.milliseconds(since: line.chargeDate))
      demo.world.advance(to: line.chargeDate.advanced(byMilliseconds: -1))
      #expect(try demo.line(account).current == first)
      demo.world.advance(to: line.chargeDate)
      let renewed = try demo.sold(demo.line(account).current)
      #expect(renewed.purchaseDate == line.expiresDate)
      #expect(renewed.expiresDate == line.expiresDate.advanced(by: Period("P1M")!))
      #expect(demo.world.notifications.last { $0.transaction?.id == renewed.id }?.date == line.chargeDate)
    }
    #expect(leads.count == 50 && leads.allSatisfy { (0...86_400_000).contains($0) })
    #expect(leads.contains { $0 > 43_200_000 } && leads.contains { $0 < 43_200_000 })
  }

  @Test("The time of a charge is the same for the same seed, whatever other customers do")
  func deterministic() throws {
    var (one, two) = (DemoWorld(), DemoWorld())
    for other in [false, true] {
      var demo = DemoWorld()
      demo.world.timing = RenewalTiming()
      try demo.buy("monthly")
      if other { try demo.buy("unlock", "bob") }
      demo.pass(days: 40)
      if other { two = demo } else { one = demo }
    }
    #expect(try one.line().chargeDate == two.line().chargeDate)
  }

  // Apple Developer Forums, thread 745515.
  @Test(
    "A failed renewal is announced seconds after the end of the period, while its state changes at the end")
  mutating func failureNotice() throws {
    _ = try failEarlyCharge()
    #expect(try demo.line().status == .active)
    demo.world.advance(to: day(31))
    #expect(try demo.line().status == .grace(until: day(47)))
    let notice = try #require(try demo.line().failureNoticeDate)
    #expect((0...30_000).contains(notice.milliseconds(since: day(31))))
    #expect(demo.notifications() == ["SUBSCRIBED/INITIAL_BUY"])
    demo.world.advance(to: notice)
    #expect(demo.notifications() == ["SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW/GRACE_PERIOD"])
  }

  // Apple Developer Forums, thread 745515: BILLING_RECOVERY 7 hours before the end, DID_FAIL_TO_RENEW after it.
  @Test(
    "A charge that fails before the end of the period is recovered before the end, in the billing cycle",
    arguments: [0, 100] as [Int64])
  mutating func recoveredEarly(staleFailures: Int64) throws {
    try demo.act(.renewalTiming, ["staleFailures": JSONValue(staleFailures)])
    let charge = try failEarlyCharge()
    try demo.act(.billing, ["account": "ann", "fails": false])
    #expect(demo.notifications().last == "DID_RENEW/BILLING_RECOVERY")
    #expect(demo.world.notifications.last?.date == charge && charge < day(31))
    #expect(try demo.sold(demo.line().current).purchaseDate == day(31))
    #expect(try demo.line().expiresDate == day(59))
    demo.world.advance(to: day(32))
    #expect(
      demo.notifications().last == (staleFailures == 0 ? "DID_RENEW/BILLING_RECOVERY" : "DID_FAIL_TO_RENEW"))
    // The stale notification carries the present state.
    #expect(try demo.line().status == .active)
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    #expect(renewal["isInBillingRetryPeriod"] == nil)
  }

  @Test("Auto-renew that is off after a failed charge prevents the recovery")
  mutating func cancelledAfterFailedCharge() throws {
    _ = try failEarlyCharge()
    let id = JSONValue.string(String(try demo.line().id))
    try demo.act(.autoRenew, ["transactionId": id, "enabled": false])
    try demo.act(.billing, ["account": "ann", "fails": false])
    demo.world.advance(to: day(32))
    #expect(
      demo.notifications().suffix(2) == [
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
      ])
  }

  @Test("A charge that was impossible before the end of the period is made at the end")
  mutating func chargedAtTheEnd() throws {
    let id = JSONValue.string(String(try demo.buy("monthly")))
    try demo.act(.autoRenew, ["transactionId": id, "enabled": false])
    demo.world.advance(to: day(31).advanced(byMilliseconds: -1))
    try demo.act(.autoRenew, ["transactionId": id, "enabled": true])
    demo.world.advance(to: day(31))
    #expect(try demo.sold(demo.line().current).purchaseDate == day(31))
    #expect(demo.notifications().last == "DID_RENEW")
  }

  @Test(
    "An upgrade after the early charge replaces the running and the charged period, for family members too")
  mutating func upgradedAfterCharge() throws {
    for product in ["monthly", "gold"] { try demo.act(.shareable, ["productId": .string(product)]) }
    for account in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(account), "family": "a"]) }
    let first = try demo.buy("monthly")
    demo.world.advance(to: try demo.line().chargeDate)
    let charged = try demo.line().current
    let upgraded = try demo.buy("gold")
    #expect(try demo.sold(first).isUpgraded && demo.sold(charged).isUpgraded)
    #expect(try demo.line().expiresDate == demo.world.now.advanced(by: Period("P1M")!))
    let member = try #require(demo.world.subscriptions(of: "bob", in: "demo").first)
    #expect(try demo.sold(member.current).productID == "gold")
    #expect(try demo.sold(member.current).purchaseDate == demo.sold(upgraded).purchaseDate)
    let replaced = demo.world.purchases(of: "bob", in: "demo").filter { $0.productID == "monthly" }
    #expect(replaced.map(\.isUpgraded) == [true, true])
  }

  @Test("A changed timing applies to running periods, and one of more than 24 hours is rejected")
  mutating func limits() throws {
    #expect(throws: ActionError.self) { try demo.act(.renewalTiming, ["chargeLead": "25h"]) }
    try demo.buy("monthly")
    try demo.act(.renewalTiming, ["chargeLead": "2h", "failureDelay": "5s"])
    #expect(
      demo.world.timing == RenewalTiming(chargeLead: 7_200_000, failureDelay: 5000, staleFailures: 50))
    #expect(try day(31).milliseconds(since: demo.line().chargeDate) <= 7_200_000)
  }
}
