import AppStore
import JSON
import Testing

@testable import Sandbox

/// Prices and offers of a commitment.
@Suite struct CommitmentPriceTests: CommitmentSuite {
  var demo: DemoWorld

  init() throws { demo = try .sellingCommitments() }

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
}
