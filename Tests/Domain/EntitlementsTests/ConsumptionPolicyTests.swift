import AppStore
import Entitlements
import TestSupport
import Testing

/// Consumption information for refund requests.
@Suite struct ConsumptionPolicyTests {
  private let season = ProductDefinition(
    productID: "season", type: .nonRenewingSubscription, duration: Period("P30D"), entitlements: ["pro"])

  private func share(
    of fact: TransactionFact?, _ product: ProductDefinition? = nil, on day: Int64,
    _ terms: ConsumptionPolicy.Terms = .init()
  ) -> Int64? {
    terms.information(about: fact, product, at: at(day)).consumptionPercentage
  }

  @Test(
    "The consumed share is the part of the catalog's duration before the refund request",
    arguments: [(-1, 0), (0, 0), (3, 10_000), (15, 50_000), (30, 100_000), (99, 100_000)])
  func share(day: Int64, expected: Int64) {
    #expect(share(of: purchase("season", .nonRenewingSubscription, on: 0), season, on: day) == expected)
  }

  @Test("The duration counts once for each of the quantity", arguments: [(30, 50_000), (60, 100_000)])
  func quantity(day: Int64, expected: Int64) {
    let fact = purchase("season", .nonRenewingSubscription, on: 0).with { $0.quantity = 2 }
    #expect(share(of: fact, season, on: day) == expected)
  }

  @Test(
    "The time of a purchase that adds up begins at the end of the one before",
    arguments: [(20, 0), (45, 50_000), (60, 100_000)])
  func stacked(day: Int64, expected: Int64) {
    let app = AppDefinition(
      id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
      products: [season])
    let second = purchase("season", .nonRenewingSubscription, on: 10)
    let facts = CustomerFacts(transactions: [purchase("season", .nonRenewingSubscription, on: 0), second])
    let start = facts.start(ofNonRenewing: second, in: app)
    let information = ConsumptionPolicy.Terms().information(about: second, season, from: start, at: at(day))
    #expect(information.consumptionPercentage == expected)
    #expect(CustomerFacts().start(ofNonRenewing: second, in: app) == nil)
    #expect(facts.start(ofNonRenewing: period(0...30), in: app) == nil)
  }

  // Apple: consumptionPercentage, "Don't provide a consumption percentage for auto-renewable subscriptions".
  @Test("Apple computes the consumed share of subscriptions itself")
  func subscription() {
    #expect(share(of: period(0...30), on: 15) == nil)
    #expect(share(of: period(0...30).with { $0.type = .unrecognized("Suite") }, on: 15) == nil)
  }

  // Apple: consumptionPercentage, deliveryStatus and refundPreference.
  @Test(
    "The consumed share keeps to Apple's bounds for undelivered purchases and prorated refunds",
    arguments: [
      (.delivered, .grantProrated, 0, 1), (.delivered, .grantProrated, 15, 50_000),
      (.delivered, .grantProrated, 30, 99_999), (.delivered, .grantFull, 30, 100_000),
      (.undeliveredOther, nil, 15, 0), (.undeliveredServerOutage, .decline, 15, 0),
      (.undeliveredOther, .grantProrated, 15, nil),
    ] as [(ConsumptionRequest.DeliveryStatus, ConsumptionRequest.RefundPreference?, Int64, Int64?)])
  func bounds(
    delivery: ConsumptionRequest.DeliveryStatus, preference: ConsumptionRequest.RefundPreference?, day: Int64,
    expected: Int64?
  ) {
    let terms = ConsumptionPolicy.Terms(deliveryStatus: delivery, refundPreference: preference)
    let fact = purchase("season", .nonRenewingSubscription, on: 0)
    #expect(share(of: fact, season, on: day, terms) == expected)
    #expect(terms.information(about: fact, season, at: at(day)).problem(with: fact.type) == nil)
  }

  @Test("Information that Apple rejects has a problem")
  func problems() {
    func problem(
      _ consumed: Int64?, _ type: ProductType?, _ delivery: ConsumptionRequest.DeliveryStatus = .delivered,
      _ preference: ConsumptionRequest.RefundPreference? = nil
    ) -> Bool {
      ConsumptionRequest(
        customerConsented: true, deliveryStatus: delivery, sampleContentProvided: false,
        consumptionPercentage: consumed, refundPreference: preference
      ).problem(with: type) != nil
    }
    #expect(problem(0, .autoRenewableSubscription) && !problem(nil, .autoRenewableSubscription))
    #expect(!problem(100_000, .consumable) && !problem(50_000, nil))
    #expect(problem(1, .consumable, .undeliveredOther) && !problem(0, .consumable, .undeliveredOther))
    for consumed in [0, 100_000] as [Int64] {
      #expect(problem(consumed, .nonConsumable, .delivered, .grantProrated))
    }
    #expect(!problem(1, .nonConsumable, .delivered, .grantProrated))
    for type in [.consumable, .nonConsumable, .nonRenewingSubscription] as [ProductType] {
      #expect(problem(nil, type, .delivered, .grantProrated), "Apple requires a share")
      #expect(!problem(nil, type, .delivered, .grantFull))
    }
    for type in [.autoRenewableSubscription, nil] as [ProductType?] {
      #expect(!problem(nil, type, .delivered, .grantProrated), "Apple computes the share")
    }
  }

  @Test("Without a consumed share, a prorated refund is preferred for subscriptions only")
  func proratedWithoutShare() {
    func preference(
      _ fact: TransactionFact?, _ terms: ConsumptionPolicy.Terms
    ) -> ConsumptionRequest.RefundPreference? {
      terms.information(about: fact, season, at: at(15)).refundPreference
    }
    let prorated = ConsumptionPolicy.Terms(refundPreference: .grantProrated)
    let silent = ConsumptionPolicy.Terms(refundPreference: .grantProrated, reportsConsumption: false)
    let undelivered = ConsumptionPolicy.Terms(
      deliveryStatus: .undeliveredOther, refundPreference: .grantProrated)
    let nonRenewing = purchase("season", .nonRenewingSubscription, on: 0)
    for (fact, terms) in [(period(0...30), prorated), (nonRenewing, prorated), (nil, prorated)] {
      #expect(preference(fact, terms) != nil)
    }
    for (fact, terms) in [(nonRenewing, silent), (nonRenewing, undelivered)] {
      #expect(preference(fact, terms) == nil)
    }
    let coins = purchase("coins", .consumable, on: 0)
    #expect(prorated.information(about: coins, nil, at: at(15)).refundPreference == nil)
  }

  @Test("The consumed share is omitted without a period or if the operator disabled it")
  func nothing() {
    let fact = purchase("season", .nonRenewingSubscription, on: 0)
    #expect(share(of: fact, on: 15) == nil && share(of: nil, season, on: 15) == nil)
    #expect(share(of: purchase("lifetime", .nonConsumable, on: 0), on: 15) == nil)
    #expect(share(of: fact, season, on: 15, .init(reportsConsumption: false)) == nil)
  }

  @Test("A reason without a configured answer gets the default answer")
  func reasons() {
    let decline = ConsumptionPolicy.Answer.automatic(.init(refundPreference: .decline))
    let policy = ConsumptionPolicy(defaultAnswer: decline, byReason: [.legal: .manual])
    #expect(policy.answer(to: .legal) == .manual)
    #expect(policy.answer(to: .other) == decline && policy.answer(to: nil) == decline)
    #expect(ConsumptionPolicy.manual.answer(to: .other) == .manual)
  }
}
