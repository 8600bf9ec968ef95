import AppStore
import Entitlements
import TestSupport
import Testing

/// Consumption information for refund requests.
@Suite struct ConsumptionPolicyTests {
  private func share(
    of fact: TransactionFact?, _ product: ProductDefinition? = nil, on day: Int64
  ) -> Int64? {
    ConsumptionPolicy.Terms().information(about: fact, product, at: at(day)).consumptionPercentage
  }

  @Test(
    "The consumed share is the part of the paid period before the refund request",
    arguments: [(-1, 0), (0, 0), (3, 10_000), (15, 50_000), (30, 100_000), (99, 100_000)])
  func share(day: Int64, expected: Int64) {
    #expect(share(of: period(0...30), on: day) == expected)
  }

  @Test("The catalog's duration defines the period where Apple sends no end")
  func duration() {
    var fact = period(0...30)
    fact.expiresDate = nil
    let season = ProductDefinition(
      productID: "season", type: .nonRenewingSubscription, duration: Period("P100D"),
      entitlements: ["pro"])
    #expect(share(of: fact, season, on: 25) == 25_000)
  }

  @Test("The consumed share is omitted without a period or if the operator disabled it")
  func nothing() {
    var endless = period(0...30)
    endless.expiresDate = nil
    #expect(share(of: endless, on: 15) == nil && share(of: nil, on: 15) == nil)
    #expect(share(of: period(30...30), on: 30) == nil)
    let silent = ConsumptionPolicy.Terms(reportsConsumption: false)
    #expect(silent.information(about: period(0...30), nil, at: at(15)).consumptionPercentage == nil)
  }

  @Test("A reason without an answer of its own gets the default answer")
  func reasons() {
    let decline = ConsumptionPolicy.Answer.automatic(.init(refundPreference: .decline))
    let policy = ConsumptionPolicy(defaultAnswer: decline, byReason: [.legal: .manual])
    #expect(policy.answer(to: .legal) == .manual)
    #expect(policy.answer(to: .other) == decline && policy.answer(to: nil) == decline)
    #expect(ConsumptionPolicy.manual.answer(to: .other) == .manual)
  }
}
