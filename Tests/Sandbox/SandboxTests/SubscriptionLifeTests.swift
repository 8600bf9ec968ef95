import AppStore
import JSON
import Testing

@testable import Sandbox

/// The life of one subscriber.
@Suite struct SubscriptionLifeTests {
  private var demo = DemoWorld()

  @Test("A subscription renews at its period's end until auto-renew is off, and then expires")
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

  // Apple: recentSubscriptionStartDate.
  @Test(
    "The recent start date ignores gaps of up to 60 days", arguments: [(59, 0), (61, 92)] as [(Int64, Int64)])
  mutating func recentStart(gap: Int64, start: Int64) throws {
    let id = try demo.buy("monthly")
    try demo.act(.autoRenew, ["transactionId": .string(String(id)), "enabled": false])
    demo.pass(days: 31 + gap)
    try demo.buy("weekly")
    let payload = demo.world.presentPayload(of: try demo.line())
    #expect(payload["recentSubscriptionStartDate"] == JSONValue(day(start)))
  }

  @Test("Of several changes in one millisecond the last one has the latest signature")
  mutating func signatures() throws {
    let bought = JSONValue.string(String(try demo.buy("monthly")))
    for isOn in [false, true] {
      try demo.act(.autoRenew, ["transactionId": bought, "enabled": .bool(isOn)])
    }
    let dates = demo.world.notifications.map(\.date)
    #expect(dates == (0...2).map { DemoWorld.start.advanced(byMilliseconds: $0) })
    let present = demo.world.presentPayload(of: try demo.line())
    #expect(present["signedDate"] == JSONValue(try #require(dates.last)))
    #expect(present["autoRenewStatus"] == JSONValue(1))
    demo.pass(days: 1)
    #expect(demo.world.presentPayload(of: try demo.line())["signedDate"] == JSONValue(day(1)))
  }

  @Test("Recovery keeps the billing date in the grace period and starts a new one after it")
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
    #expect(try demo.line().expiresDate == day(92).advanced(by: Period("P1M")!))
    #expect(
      demo.notifications() == [
        "SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY",
        "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "DID_RENEW/BILLING_RECOVERY",
      ])
  }

  // Apple: "Testing failing subscription renewals".
  @Test(
    "Turning auto-renew off in the grace period or billing retry ends the subscription",
    arguments: [0, 16] as [Int64])
  mutating func cancelledDuringRetry(graceDays: Int64) throws {
    try demo.act(.gracePeriod, ["days": JSONValue(graceDays)])
    let id = try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 32)
    try demo.act(.autoRenew, ["transactionId": .string(String(id)), "enabled": false])
    #expect(try demo.line().status == .ended(.customerCancelled))
    #expect(
      demo.notifications().suffix(2) == [
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
      ])
  }

  // Apple: "Reducing Involuntary Subscriber Churn".
  @Test(
    "A weekly subscription has a shorter grace period",
    arguments: [
      ("weekly", 3, 10), ("weekly", 16, 13), ("weekly", 28, 13), ("monthly", 3, 34), ("monthly", 28, 59),
    ]
      as [(String, Int64, Int64)])
  mutating func gracePeriods(product: String, setting: Int64, end: Int64) throws {
    try demo.act(.gracePeriod, ["days": JSONValue(setting)])
    try demo.buy(product)
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: product == "weekly" ? 8 : 32)
    #expect(try demo.line().status == .grace(until: day(end)))
    // A later change of the setting does not apply to a grace period that has begun.
    try demo.act(.gracePeriod, ["days": 0])
    #expect(try demo.line().status == .grace(until: day(end)))
  }

  // Apple: subscriptionGracePeriods, `renewalType`.
  @Test("A failed trial conversion has no grace period with PAID_TO_PAID_ONLY")
  mutating func graceAfterTrial() throws {
    try demo.act(
      .offers,
      ["productId": "monthly", "id": "trial", "type": "INTRODUCTORY", "mode": "FREE_TRIAL", "period": "P1W"])
    try demo.act(.gracePeriod, ["days": 16, "renewalType": "PAID_TO_PAID_ONLY"])
    try demo.buy("monthly", offer: "trial")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 8)
    #expect(try demo.line().status == .retry(until: day(67)))
    #expect(throws: ActionError.self) { try demo.act(.gracePeriod, ["days": 7]) }
  }

  // Apple: notificationType, DID_CHANGE_RENEWAL_STATUS.
  @Test("A refund request turns auto-renew off")
  mutating func refundRequest() throws {
    let id = try demo.buy("monthly")
    try demo.act(.requestConsumption, ["transactionId": .string(String(id))])
    #expect(
      demo.notifications().suffix(2) == [
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "CONSUMPTION_REQUEST",
      ])
    #expect(try !demo.line().autoRenews)
  }

  @Test("A subscription ends after 60 days of billing retry")
  mutating func retryEnds() throws {
    try demo.buy("monthly")
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 90)
    #expect(try demo.line().status == .retry(until: day(91)))
    demo.pass(days: 1)
    #expect(try demo.line().status == .ended(.billingError))
    #expect(demo.notifications().suffix(2) == ["DID_FAIL_TO_RENEW", "EXPIRED/BILLING_RETRY"])
    #expect(throws: ActionError.notPossible("the account's charges fail")) {
      try demo.buy("monthly")
    }
  }

  @Test(
    "An upgrade is immediate, a downgrade waits for the renewal and can be withdrawn")
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

  @Test("A price increase is charged with consent and ends the subscription without it")
  mutating func prices() throws {
    let ann = try demo.buy("monthly")
    let bob = try demo.buy("monthly", "bob")
    try demo.act(.price, ["productId": "monthly", "price": 6990, "needsConsent": true, "notice": "0s"])
    try demo.act(.priceConsent, ["transactionId": .string(String(bob)), "agreed": true])
    demo.pass(days: 31)
    #expect(try demo.line().status == .ended(.priceIncreaseNotAccepted))
    #expect(try demo.sold(demo.line("bob").current).price == 6990)
    #expect(try demo.sold(ann).price == 4990)
    #expect(demo.notifications().suffix(2) == ["PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"])
    #expect(
      demo.notifications("bob").suffix(3) == [
        "PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED", "DID_RENEW",
      ])
  }

  @Test("A withdrawn product does not renew")
  mutating func withdrawn() throws {
    try demo.buy("monthly")
    try demo.act(.withdraw, ["productId": "monthly"])
    demo.pass(days: 31)
    #expect(try demo.line().status == .ended(.productUnavailable))
    #expect(demo.notifications().last == "EXPIRED/PRODUCT_NOT_FOR_SALE")
  }

  @Test("A renewal date can be extended twice in a year")
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

  @Test("A refund of the current period ends the subscription, a refund of an earlier one does not")
  mutating func refunds() throws {
    let first = try demo.buy("monthly")
    demo.pass(days: 40)
    try demo.act(.refund, ["transactionId": .string(String(first))])
    #expect(try demo.line().status == .active)
    #expect(try demo.sold(first).revocation?.date == day(40))
    #expect(try demo.world.presentPayload(of: demo.sold(first))["revocationPercentage"] == 100_000)
    let second = try demo.line().current
    try demo.act(.refund, ["transactionId": .string(String(second)), "percent": 40, "reason": "APP_ISSUE"])
    #expect(try demo.line().status == .revoked)
    #expect(try demo.sold(second).revocation?.percentage == 40_000)
    #expect(throws: ActionError.notPossible("transaction \(second) is already refunded")) {
      try demo.act(.refund, ["transactionId": .string(String(second))])
    }
    try demo.act(.reverseRefund, ["transactionId": .string(String(second))])
    #expect(try demo.line().status == .active && !demo.line().autoRenews)
    #expect(try demo.world.presentPayload(of: demo.sold(second))["revocationPercentage"] == nil)
    demo.pass(days: 30)
    #expect(demo.notifications().suffix(4) == ["REFUND", "REFUND", "REFUND_REVERSED", "EXPIRED/VOLUNTARY"])
  }

  @Test(
    "A part of a refund has up to three decimals, as that of two of three pieces",
    arguments: [
      ("66.667", 66_667), (40, 40_000), ("0.015", 15), ("100", nil), ("66.6667", nil), (0, nil), ("", nil),
    ] as [(JSONValue, Int64?)])
  mutating func refundedShare(percent: JSONValue, expected: Int64?) throws {
    let order: JSONObject = ["productId": "coins", "account": "ann", "quantity": 3]
    let coins = try #require(try demo.act(.purchases, order).transactions.first)
    _ = try? demo.act(.refund, ["transactionId": .string(String(coins)), "percent": percent])
    let payload = try demo.world.presentPayload(of: demo.sold(coins))
    #expect(payload["revocationPercentage"] == expected.map { JSONValue($0) })
    #expect(payload["revocationType"] == expected.map { _ in "REFUND_PRORATED" })
  }

  @Test("A renewal info says whether Apple retries the charge only after one failed, and after the end")
  mutating func retryIndicator() throws {
    try demo.buy("monthly")
    func indicator() throws -> JSONValue? {
      try demo.world.presentPayload(of: demo.line())["isInBillingRetryPeriod"]
    }
    #expect(try indicator() == nil)
    try demo.act(.billing, ["account": "ann", "fails": true])
    demo.pass(days: 31)
    #expect(try indicator() == true)
    try demo.act(.billing, ["account": "ann", "fails": false])
    #expect(try indicator() == nil)
    try demo.act(.autoRenew, ["transactionId": .string(String(demo.line().current)), "enabled": false])
    demo.pass(days: 31)
    #expect(try indicator() == false)
  }

  @Test(
    "Auto-renew of a subscription that ended or was refunded cannot be turned on", arguments: [true, false])
  mutating func autoRenewAfterTheEnd(isRefunded: Bool) throws {
    let bought = JSONValue.string(String(try demo.buy("monthly")))
    if isRefunded {
      try demo.act(.refund, ["transactionId": bought])
    } else {
      try demo.act(.autoRenew, ["transactionId": bought, "enabled": false])
      demo.pass(days: 40)
    }
    let line = try demo.line()
    #expect(throws: ActionError.notPossible("subscription \(line.id) is over")) {
      try demo.act(.autoRenew, ["transactionId": bought, "enabled": true])
    }
    #expect(try !demo.line().autoRenews && demo.line().status == line.status)
  }

  @Test("With compressed periods a month lasts five minutes, and the twelfth renewal is the last")
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

  @Test("Signed payloads omit absent members and contain no null")
  mutating func absent() throws {
    let id = try demo.buy("monthly")
    try demo.act(.autoRenew, ["transactionId": .string(String(id)), "enabled": false])
    let renewal = demo.world.payload(of: try demo.line(), signed: demo.world.now)
    let transaction = demo.world.payload(of: try demo.sold(id), signed: demo.world.now)
    for (_, value) in renewal { #expect(!value.isNull) }
    for (_, value) in transaction { #expect(!value.isNull) }
    #expect(renewal["gracePeriodExpiresDate"] == nil && transaction["isUpgraded"] == nil)
  }
}
