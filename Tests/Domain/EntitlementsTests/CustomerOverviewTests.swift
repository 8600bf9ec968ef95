import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct CustomerOverviewTests {
  @Test("A product is new before, active during and inactive after its first purchase")
  func productStates() {
    #expect(overview([]).states == ["lifetime": .new, "monthly": .new, "plus": .new])
    #expect(overview([period(0...30)], on: 5).states["monthly"] == .active)
    #expect(overview([period(0...30)], on: 30).states["monthly"] == .inactive)
    let revoked = purchase("lifetime", .nonConsumable, on: 0).with { $0.revocationDate = at(0) }
    #expect(overview([revoked], on: 1).states["lifetime"] == .inactive)
    #expect(overview([purchase("lifetime", .nonConsumable, on: 9)], on: 8).states["lifetime"] == .new)
  }

  @Test("A product is active in grace and inactive in billing retry, with its renewal info")
  func graceAndRetry() {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    #expect(overview([period(0...30)], [failed], on: 40).states["monthly"] == .active)
    #expect(overview([period(0...30)], [failed], on: 50).states["monthly"] == .inactive)
    let product = overview([period(0...30)], [failed], on: 50).products.first { $0.productID == "monthly" }
    #expect(product?.renewal == failed)
    #expect(product?.latest?.transactionID == "L1-0")
  }

  @Test("A group reports its active product and the next product")
  func group() throws {
    let pending = renewal(signed: 5) { $0.autoRenewProductID = "plus" }
    let group = try #require(overview([period(0...30)], [pending], on: 10).groups.first)
    #expect(group.group == "pro")
    #expect(group.state == .active)
    #expect(group.productID == "monthly")
    #expect(group.autoRenewProductID == "plus")
    #expect(overview([]).groups.map(\.state) == [.new])
    #expect(overview([period(0...30)], on: 31).groups.map(\.state) == [.inactive])
  }

  @Test("Of several active products of a group the highest level counts, and then the own one")
  func severalActive() {
    func productID(_ own: String, _ shared: String) -> String? {
      let purchases = [
        period(0...30, own), period(0...60, shared, line: "L2").with { $0.ownership = .familyShared },
      ]
      let facts = CustomerFacts(transactions: purchases)
      return CustomerOverview(facts, in: fullApp, at: at(5)).groups.first?.productID
    }
    #expect(productID("plus", "basic") == "plus" && productID("basic", "plus") == "plus")
    #expect(productID("monthly", "yearly") == "monthly" && productID("yearly", "monthly") == "yearly")
  }

  @Test(
    "The latest transaction is none that an upgrade or a plan change replaced before it started",
    arguments: [true, false])
  func replacedRenewal(isUpgrade: Bool) throws {
    let product = isUpgrade ? "plus" : "monthly"
    let renewed = period(30...60, id: "R").with {
      $0.details.transactionReason = .renewal
      $0.signedDate = at(28)
    }
    let bought = period(29...59, product, id: "U").with {
      $0.details.transactionReason = .purchase
      if !isUpgrade { $0.details.billingPlanType = .monthly }
    }
    let info = renewal(signed: 29) {
      $0.productID = product
      $0.autoRenewProductID = "plus"
      $0.renewalDate = at(59)
    }
    let overview = overview([period(0...30), renewed, bought], [info], on: 40)
    func latest(_ productID: String) -> String? {
      overview.products.first { $0.productID == productID }?.latest?.transactionID
    }
    #expect(latest("monthly") == (isUpgrade ? "L1-0" : "U"))
    #expect(latest("plus") == (isUpgrade ? "U" : nil))
    #expect(overview.groups.map(\.autoRenewProductID) == ["plus"])
  }

  @Test(
    "An introductory offer is for new subscribers, and for lapsed ones who never used one in the group",
    arguments: [
      (Int64(-5), OfferType?.none, true), (10, nil, false), (40, nil, false), (50, nil, false),
      (95, nil, true),
      (95, .introductory, false), (95, .promotional, true),
    ])
  func introductoryOffer(day: Int64, offer: OfferType?, isEligible: Bool) {
    let failed = renewal(signed: 30) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let bought = period(0...30).with { $0.offerType = offer }
    let group = overview([bought], [failed], on: day).groups.first
    #expect(group?.isEligibleForIntroductoryOffer == isEligible)
  }

  @Test("Without its upgrade, an upgraded subscription excludes introductory offers until its end is known")
  func upgradedSubscription() {
    let upgraded = period(0...30).with { ($0.isUpgraded, $0.signedDate) = (true, at(20)) }
    func isEligible(_ facts: [TransactionFact], _ info: [RenewalFact] = [], on day: Int64) -> Bool? {
      overview(facts, info, on: day).groups.first?.isEligibleForIntroductoryOffer
    }
    for day in [19, 21, 45] as [Int64] { #expect(isEligible([upgraded], on: day) == false, "day \(day)") }
    let retry = renewal(signed: 50) { ($0.isInBillingRetry, $0.expirationIntent) = (true, .billingError) }
    #expect(isEligible([upgraded], [retry], on: 55) == false)
    let ended = renewal(signed: 50) { ($0.autoRenewStatus, $0.expirationIntent) = (.off, .customerCancelled) }
    #expect(isEligible([upgraded], [ended], on: 55) == true)
    // The upgrade arrived, in the same line or in another one, and has ended.
    for line in ["L1", "L2"] {
      #expect(isEligible([upgraded, period(10...40, "plus", line: line)], on: 39) == false)
      #expect(isEligible([upgraded, period(10...40, "plus", line: line)], on: 45) == true)
    }
  }

  @Test("Neither a refunded subscription nor a shared one makes a customer an existing subscriber")
  func notSubscribed() {
    let refunded = period(0...30).with { $0.revocationDate = at(5) }
    #expect(overview([refunded], on: 10).groups.first?.isEligibleForIntroductoryOffer == true)
    let shared = period(0...30).with { $0.ownership = .familyShared }
    #expect(overview([shared], on: 10).groups.first?.isEligibleForIntroductoryOffer == true)
    let late = period(0...30).with { $0.revocationDate = at(20) }
    #expect(overview([late], on: 10).groups.first?.isEligibleForIntroductoryOffer == false)
  }

  @Test("An introductory offer of a product that was removed from the catalog counts for its group")
  func removedProduct() {
    let gone = period(0...7, "gone").with {
      $0.offerType = .introductory
      $0.subscriptionGroupID = "20"
    }
    let now = period(8...60, line: "L2").with {
      $0.subscriptionGroupID = "20"
      $0.revocationDate = at(9)
    }
    let groups = overview([gone, now], on: 10).groups
    #expect(groups.map(\.group) == ["pro"])
    #expect(groups.map(\.isEligibleForIntroductoryOffer) == [false])
    let other = gone.with { $0.subscriptionGroupID = "21" }
    #expect(overview([other, now], on: 10).groups.map(\.group) == ["21", "pro"])
    #expect(overview([other, now], on: 10).groups.map(\.isEligibleForIntroductoryOffer) == [false, true])
  }

  @Test("Promotional offers need a current or past subscription, win-back offers a lapsed one")
  func otherOffers() {
    #expect(overview([]).groups.first?.isEligibleForPromotionalOffers == false)
    #expect(overview([period(0...30)]).groups.first?.isEligibleForPromotionalOffers == true)
    let left = renewal(signed: 31) { $0.details.eligibleWinBackOfferIDs = ["best", "other"] }
    #expect(
      overview([period(0...30)], [left], on: 40).groups.first?.eligibleWinBackOfferIDs == ["best", "other"])
    #expect(overview([period(0...50)], [left], on: 40).groups.first?.eligibleWinBackOfferIDs == [])
    let shared = period(0...30).with { $0.ownership = .familyShared }
    #expect(overview([shared], [left], on: 40).groups.first?.eligibleWinBackOfferIDs == [])
    #expect(
      overview([shared, period(0...30, line: "L2")], [left], on: 40).groups.first?.eligibleWinBackOfferIDs
        == [],
      "Apple reported it about the shared purchase")
  }

  @Test("The state of a shared purchase has no win-back offers and needs no consent to a price")
  func sharedState() {
    let left = renewal(signed: 31) { $0.details.eligibleWinBackOfferIDs = ["best"] }
    let asked = renewal(signed: 5) { $0.priceIncreaseStatus = .pending }
    for ownership in [InAppOwnershipType.purchased, .familyShared, .assigned] {
      func state(_ info: RenewalFact, on day: Int64) -> PurchaseState? {
        let bought = period(0...30).with { $0.ownership = ownership }
        return PurchaseState(
          CustomerFacts(transactions: [bought], renewals: [info]), in: app, at: at(day))
      }
      #expect(state(left, on: 40)?.winBackOfferIDs == (ownership == .purchased ? ["best"] : []))
      #expect(state(asked, on: 10)?.needsPriceConsent == (ownership == .purchased))
    }
  }

  @Test("Consumable units add up; refunded units are counted unless the refund was reversed")
  func consumables() {
    func shells(_ id: String, _ quantity: Int64, refunded: Bool = false, signed: Int64 = 0) -> TransactionFact
    {
      purchase("shells", .consumable, on: 0, id: id).with {
        $0.quantity = quantity
        $0.revocationDate = refunded ? at(3) : nil
        $0.signedDate = at(signed)
      }
    }
    let bought = [shells("1", 5), shells("2", 3, refunded: true, signed: 3)]
    #expect(overview(bought).consumables.map { [$0.purchased, $0.refunded] } == [[8, 3]])
    let half = shells("3", 5, refunded: true).with { $0.details.revocationPercentage = 50_000 }
    #expect(overview([half]).consumables.map { [$0.purchased, $0.refunded] } == [[5, 3]])
    let reversed = bought + [shells("2", 3, signed: 4)]
    #expect(overview(reversed).consumables.map { [$0.purchased, $0.refunded] } == [[8, 0]])
  }

  @Test("Apple's rounded share of a partial refund is that of whole units")
  func refundedUnits() {
    func units(_ quantity: Int64, _ share: Int64?) -> Int64 {
      purchase("shells", .consumable, on: 0).with {
        ($0.quantity, $0.revocationDate) = (quantity, at(3))
        $0.details.revocationPercentage = share
      }.refundedUnits
    }
    for quantity in 1...100 as ClosedRange<Int64> {
      for refunded in 0...quantity {
        let rounded = (2 * refunded * 100_000 + quantity) / (2 * quantity)
        #expect(units(quantity, rounded) == refunded, "\(refunded) of \(quantity)")
      }
    }
    #expect(units(3, nil) == 3 && units(3, -1) == 0 && units(3, 200_000) == 3)
    #expect(units(1, 50_000) == 1 && units(5, 50_000) == 3 && units(.max, 50_000) == .max)
  }

  @Test("The overview agrees with the evaluation", arguments: UInt64(0)..<200)
  func agrees(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 13_000)
    let facts = randomCustomer(&random)
    let now = at(.random(in: -5...200, using: &random))
    let overview = CustomerOverview(facts, in: app, at: now)
    let active = overview.products.filter { $0.state == .active }.map(\.productID)
    let status = evaluate(facts, entitlement: "plus", in: app, at: now)
    #expect(active.contains("plus") == (status.isEntitled && status.reason != .granted))
    for product in overview.products {
      let access = evaluate(facts, product: product.productID, in: app, at: now)
      #expect(access.isEntitled == (product.state == .active), "\(product.productID)")
    }
  }
}

private func overview(
  _ transactions: [TransactionFact], _ renewals: [RenewalFact] = [], on day: Int64 = 5
) -> CustomerOverview {
  CustomerOverview(CustomerFacts(transactions: transactions, renewals: renewals), in: app, at: at(day))
}

extension CustomerOverview {
  fileprivate var states: [String: ProductState] {
    var states: [String: ProductState] = [:]
    for product in products where ["monthly", "plus", "lifetime"].contains(product.productID) {
      states[product.productID] = product.state
    }
    return states
  }
}
