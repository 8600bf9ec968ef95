import AppStore
import JSON
import Testing

@testable import Sandbox

/// What happens to one subscriber, told as it happens.
@Suite struct SubscriptionLifeTests {
  private var demo = DemoWorld()

  @Test("A subscription is renewed at the end of its period until it is turned off, and then ends")
  mutating func renewal() throws {
    let first = try demo.buy("monthly")
    demo.pass(days: 31)
    let line = try demo.line()
    #expect(line.id == first && line.current != first)
    #expect(try demo.sold(line.current).purchaseDate == day(31))
    #expect(line.expiresDate == day(59))
    try demo.act(.autoRenew, ["transactionId": .string(String(first)), "enabled": false])
    demo.pass(days: 100)
    #expect(try demo.line().status == .ended(.customerCancelled))
    #expect(
      demo.notifications() == [
        "SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "EXPIRED/VOLUNTARY",
      ])
    try demo.buy("weekly")
    #expect(try demo.line().id == first)
    #expect(demo.notifications().last == "SUBSCRIBED/RESUBSCRIBE")
  }

  @Test("Within grace the billing date stays; after it a new one begins")
  mutating func billing() throws {
    try demo.act(.gracePeriod, ["days": 16])
    try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 32)
    #expect(try demo.line().status == .grace(until: day(47)))
    try demo.act(.billing, ["account": "ann", "fails": false])
    #expect(try demo.line().expiresDate == day(59))
    #expect(try demo.sold(demo.line().current).purchaseDate == day(31))

    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 60)
    #expect(try demo.line().status == .retry(until: day(119)))
    try demo.act(.billing, ["account": "ann", "fails": false])
    #expect(try demo.sold(demo.line().current).purchaseDate == day(92))
    #expect(
      demo.notifications() == [
        "SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY",
        "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "DID_RENEW/BILLING_RECOVERY",
      ])
  }

  @Test("After sixty days of failed charges a subscription ends")
  mutating func retryEnds() throws {
    try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 90)
    #expect(try demo.line().status == .retry(until: day(91)))
    demo.pass(days: 1)
    #expect(try demo.line().status == .ended(.billingError))
    #expect(demo.notifications().suffix(2) == ["DID_FAIL_TO_RENEW", "EXPIRED/BILLING_RETRY"])
    #expect(throws: ActionError.notPossible("the account's payment method is declined")) {
      try demo.buy("monthly")
    }
  }

  @Test(
    "A higher level takes over at once, a lower one with the next renewal, and the wish can be taken back")
  mutating func levels() throws {
    let first = try demo.buy("monthly")
    demo.pass(days: 10)
    let second = try demo.buy("gold")
    #expect(second != first)
    #expect(try demo.sold(first).isUpgraded)
    #expect(try demo.line().expiresDate == day(41))
    #expect(try demo.buy("weekly") == second)
    #expect(try demo.line().renewalProductID == "weekly")
    try demo.buy("gold")
    #expect(try demo.line().renewalProductID == "gold")
    try demo.buy("monthly")
    demo.pass(days: 31)
    #expect(try demo.line().productID == "monthly")
    #expect(
      demo.notifications() == [
        "SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE",
        "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_RENEW",
      ])
  }

  @Test("A higher price without consent ends a subscription, with consent it is charged")
  mutating func prices() throws {
    let ann = try demo.buy("monthly")
    let bob = try demo.buy("monthly", "bob")
    try demo.act(.price, ["productId": "monthly", "price": 6990, "needsConsent": true])
    try demo.act(.priceConsent, ["transactionId": .string(String(bob)), "agreed": true])
    demo.pass(days: 31)
    #expect(try demo.line().status == .ended(.priceIncreaseNotAccepted))
    #expect(try demo.sold(demo.line("bob").current).price == 6990)
    #expect(try demo.sold(ann).price == 4990)
    #expect(demo.notifications().suffix(2) == ["PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"])
    #expect(demo.notifications("bob").suffix(3) == ["PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
  }

  @Test("A product that is withdrawn is renewed no more")
  mutating func withdrawn() throws {
    try demo.buy("monthly")
    try demo.act(.withdraw, ["productId": "monthly"])
    demo.pass(days: 31)
    #expect(try demo.line().status == .ended(.productUnavailable))
    #expect(demo.notifications().last == "EXPIRED/PRODUCT_NOT_FOR_SALE")
  }

  @Test("A renewal date can be moved twice in a year")
  mutating func extensions() throws {
    let id = try demo.buy("monthly")
    for _ in 0..<2 { try demo.act(.extend, ["transactionId": .string(String(id)), "days": 10]) }
    #expect(try demo.line().expiresDate == day(51))
    #expect(try demo.sold(id).expiresDate == day(51))
    #expect(demo.world.extensionError(of: try demo.line()) == .tooOften)
    demo.pass(days: 50)
    #expect(try demo.line().current == id)
    demo.pass(days: 1)
    #expect(try demo.line().current != id)
  }

  @Test("A refund of the period that runs ends it, one of an old period takes away nothing else")
  mutating func refunds() throws {
    let first = try demo.buy("monthly")
    demo.pass(days: 40)
    try demo.act(.refund, ["transactionId": .string(String(first))])
    #expect(try demo.line().status == .active)
    #expect(try demo.sold(first).revocation?.date == day(40))
    let second = try demo.line().current
    try demo.act(.refund, ["transactionId": .string(String(second)), "percent": 40, "reason": "APP_ISSUE"])
    #expect(try demo.line().status == .revoked)
    #expect(try demo.sold(second).revocation?.percentage == 40_000)
    #expect(throws: ActionError.notPossible("\(second) is refunded already")) {
      try demo.act(.refund, ["transactionId": .string(String(second))])
    }
    try demo.act(.reverseRefund, ["transactionId": .string(String(second))])
    #expect(try demo.line().status == .active && !demo.line().autoRenews)
    demo.pass(days: 30)
    #expect(demo.notifications().suffix(4) == ["REFUND", "REFUND", "REFUND_REVERSED", "EXPIRED/VOLUNTARY"])
  }

  @Test("In Apple's compressed time a month is five minutes, and twelve renewals are the last")
  mutating func compressed() throws {
    try demo.act(.periods, ["month": "5m"])
    try demo.buy("monthly")
    #expect(try demo.line().expiresDate == DemoWorld.start.advanced(byMilliseconds: 300_000))
    demo.pass(days: 1)
    #expect(demo.notifications().filter { $0 == "DID_RENEW" }.count == 12)
    #expect(demo.notifications().last == "EXPIRED/VOLUNTARY")
    try demo.buy("weekly")
    #expect(try demo.line().expiresDate.milliseconds(since: demo.world.now) == 180_000)
  }

  @Test("What does not apply is left out of what is signed, and never null")
  mutating func absent() throws {
    let id = try demo.buy("monthly")
    try demo.act(.autoRenew, ["transactionId": .string(String(id)), "enabled": false])
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    let transaction = demo.world.payload(of: try demo.sold(id), signed: demo.world.now)
    for (_, value) in renewal { #expect(!value.isNull) }
    for (_, value) in transaction { #expect(!value.isNull) }
    #expect(renewal["gracePeriodExpiresDate"] == nil && transaction["isUpgraded"] == nil)
  }

  @Test("The charge comes an hour before the end; what is in its way then can be cleared away until the end")
  mutating func chargedEarly() throws {
    let end = day(31)
    let first = try demo.buy("monthly")
    demo.world.advance(to: end.advanced(byMilliseconds: -3_600_001))
    #expect(try demo.line().current == first)
    demo.world.advance(to: end.advanced(byMilliseconds: -3_600_000))
    #expect(try demo.sold(demo.line().current).purchaseDate == end)

    let late = try demo.buy("monthly", "bob")
    let lateEnd = try demo.line("bob").expiresDate
    try demo.act(.autoRenew, ["transactionId": .string(String(late)), "enabled": false])
    demo.world.advance(to: lateEnd.advanced(byMilliseconds: -60_000))
    #expect(try demo.line("bob").current == late)
    try demo.act(.autoRenew, ["transactionId": .string(String(late)), "enabled": true])
    demo.world.advance(to: lateEnd)
    #expect(try demo.sold(demo.line("bob").current).purchaseDate == lateEnd)
  }
}
