import AppStore
import Entitlements
import TestSupport
import Testing

/// Purchases in other stores.
@Suite struct ExternalPurchaseTests {
  private func state(
    _ revision: Int64, _ since: Int64, _ until: Int64?, refunded: Int64? = nil, level: AccessLevel = .full,
    product: String = "gold"
  ) -> GrantFact {
    GrantFact(
      grantID: "grant-1", entitlement: "pro", accessLevel: level, since: at(since),
      until: until.map { at($0) },
      revokedAt: refunded.map { at($0) },
      external: ExternalPurchase(
        source: "play", externalID: "GPA.1", productID: product, revision: revision))
  }

  private func answer(_ states: [GrantFact], at day: Int64) -> EntitlementStatus {
    evaluate(CustomerFacts(grants: states), entitlement: "pro", in: app, at: at(day))
  }

  @Test("A purchase in another store grants access, ends and names its source")
  func periods() {
    let facts = [state(1, 10, 40)]
    #expect(answer(facts, at: 5).reason == .neverPurchased)
    let active = answer(facts, at: 20)
    #expect(active.isEntitled && active.reason == .externalActive && active.source == "play")
    #expect(active.until == at(40) && active.paidUntil == at(40) && active.code == 2.0)
    #expect(
      active.grant
        == DecidingGrant(
          grantID: "grant-1", source: "play", externalID: "GPA.1", productID: "gold", revision: 1))
    let ended = answer(facts, at: 41)
    #expect(!ended.isEntitled && ended.reason == .externalEnded && ended.source == "play")
    #expect(ended.productState == .inactive)
  }

  @Test("A greater revision replaces the state, and a refund ends access when it was made")
  func revisions() {
    let renewed = [state(1, 10, 40), state(2, 10, 70)]
    #expect(answer(renewed, at: 50).isEntitled)
    let refunded = renewed + [state(3, 10, 70, refunded: 50)]
    #expect(answer(refunded, at: 49).isEntitled)
    #expect(answer(refunded, at: 50).reason == .externalRefunded)
    #expect(answer(refunded, at: 50).state == .refundedForOtherReason)
  }

  @Test(
    "The id of an entitlement of a purchase has that of the purchase",
    arguments: [
      ("GPA.1#pro", "GPA.1"), ("GPA.1", "GPA.1"), ("GPA.1#plus", "GPA.1#plus"), ("GPA#1#pro", "GPA#1"),
    ])
  func purchaseID(externalID: String, purchase: String) {
    #expect(ExternalPurchase.purchaseID(externalID, of: "pro") == purchase)
    let id = ExternalPurchase.externalID(of: "pro", ofPurchase: purchase)
    #expect(ExternalPurchase.purchaseID(id, of: "pro") == purchase)
  }

  @Test("An earlier state counts until the next one begins")
  func past() {
    let states = [state(1, 10, 40, product: "silver"), state(2, 60, 90)]
    #expect(answer(states, at: 20).grant?.productID == "silver")
    #expect(answer(states, at: 50).reason == .externalEnded)
    #expect(answer(states, at: 70).grant?.productID == "gold")
    // The third state begins before the first, which says nothing any more.
    #expect(answer(states + [state(3, 5, 8)], at: 20).reason == .externalEnded)
  }

  @Test("The order and number of arrivals leave no trace", arguments: 0..<UInt64(lifeCount(short: 60)))
  func order(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let states = (1...6).map { revision in
      let since = Int64.random(in: 0...60, using: &random)
      let until = Bool.random(using: &random) ? since + Int64.random(in: 0...40, using: &random) : nil
      let refunded = Int.random(in: 0...3, using: &random) == 0 ? since + 5 : nil
      return state(
        Int64(revision), since, until, refunded: refunded,
        level: [.limited, .full].randomElement(using: &random) ?? .full)
    }
    let expected = CustomerFacts(grants: states)
    let shuffled = (states + states.prefix(3)).shuffled(using: &random)
    #expect(CustomerFacts(grants: shuffled) == expected)
    // Merging partial results is the same.
    var halves = CustomerFacts(grants: Array(shuffled.prefix(4)))
    halves.merge(CustomerFacts(grants: Array(shuffled.dropFirst(4))))
    #expect(halves == expected)
    // The answer at each day is that of the greatest revision that has begun.
    for day in 0...110 as ClosedRange<Int64> {
      var decides: GrantFact?
      for state in states.reversed() where state.since <= at(day) {
        decides = state
        break
      }
      let end = [decides?.until, decides?.revokedAt].compactMap(\.self).min()
      let isEntitled = decides != nil && (end.map { at(day) < $0 } ?? true)
      #expect(answer(shuffled, at: day).isEntitled == isEntitled, "day \(day)")
    }
  }

  @Test("Apple's purchase and one of another store decide alike: the later end wins")
  func both() {
    let apple = CustomerFacts(
      transactions: [period(0...30)], grants: [state(1, 10, 60)])
    let status = evaluate(apple, entitlement: "pro", in: app, at: at(20))
    #expect(status.source == "play" && status.until == at(60))
    let shorter = CustomerFacts(
      transactions: [period(0...30)], grants: [state(1, 10, 25)])
    #expect(
      evaluate(shorter, entitlement: "pro", in: app, at: at(20)).source == EntitlementStatus.appStoreSource)
  }

  @Test("A source is a short lower-case name that is not one of the service's own")
  func sources() {
    for name in ["play", "a", "web-2.eu_1", String(repeating: "s", count: 32)] {
      #expect(ExternalPurchase.isSource(name), "\(name)")
    }
    for name in [
      "", "Play", "2web", "-web", "my store", "bücher", String(repeating: "s", count: 33),
      EntitlementStatus.appStoreSource, EntitlementStatus.operatorSource,
    ] {
      #expect(!ExternalPurchase.isSource(name), "\(name)")
    }
  }
}
