import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct OtherProductTests {
  @Test("A non-consumable entitles permanently")
  func nonConsumable() {
    let status = pro([purchase("lifetime", .nonConsumable, on: 3)], on: 40_000)
    #expect(status.state == .nonRenewing)
    #expect(status.until == nil)
    #expect(status.checkAgainAt == nil)
    #expect(status.reason == .nonConsumableOwned)
  }

  @Test(
    "A revocation ends a non-consumable with its reason",
    arguments: [
      (RevocationReason?.none, RevocationType?.none, EntitlementReason.refunded, -8.0),
      (.appIssue, nil, .refundedForAppIssue, -7), (.other, .refundFull, .refunded, -8),
      (.other, .familyRevoke, .familySharingEnded, -8),
    ])
  func revoked(why: RevocationReason?, how: RevocationType?, reason: EntitlementReason, code: Double) {
    let bought = purchase("lifetime", .nonConsumable, on: 0).with {
      $0.revocationDate = at(9)
      $0.revocationReason = why
      $0.revocationType = how
    }
    #expect(pro([bought], on: 8).isEntitled)
    #expect(pro([bought], on: 9).reason == reason)
    #expect(pro([bought], on: 9).code == code)
  }

  @Test("The end of a shared purchase is no refund, whatever Apple's word for it")
  func revokedSeat() {
    for word in [RevocationType.assignmentRevoke, .unrecognized("SEAT_TAKEN"), nil] {
      let seat = purchase("lifetime", .nonConsumable, on: 0).with {
        $0.ownership = .assigned
        $0.revocationDate = at(9)
        $0.revocationType = word
      }
      #expect(pro([seat], on: 9).reason == .familySharingEnded)
    }
  }

  @Test("A non-consumable with a duration is a trial from the first download")
  func trial() {
    let again = purchase("trial", .nonConsumable, on: 10).with { $0.originalPurchaseDate = at(0) }
    #expect(pro([again], on: 13).reason == .trialActive)
    #expect(pro([again], on: 13).until == at(14))
    #expect(pro([again], on: 14).reason == .trialEnded)
  }

  @Test("A restored non-consumable is owned since its original purchase, a shared one since it was shared")
  func restored() {
    let again = purchase("lifetime", .nonConsumable, on: 20).with { $0.originalPurchaseDate = at(0) }
    #expect(!pro([again], on: -1).isEntitled)
    #expect(pro([again], on: 0).isEntitled && pro([again], on: 30).since == at(0))
    let shared = again.with { $0.ownership = .familyShared }
    #expect(!pro([shared], on: 19).isEntitled && pro([shared], on: 30).since == at(20))
  }

  @Test("Non-renewing purchases add up: each starts at the end of the previous one")
  func nonRenewing() {
    // The later purchase has the lower line id: line order is not purchase order.
    let facts = [
      purchase("season", .nonRenewingSubscription, on: 0, id: "9"),
      purchase("season", .nonRenewingSubscription, on: 80, id: "1"),
    ]
    #expect(pro(facts, on: 10).until == at(180))
    #expect(pro(facts, on: 90).deciding?.transactionID == "1")
    #expect(pro(facts, on: 180).reason == .nonRenewingEnded)
  }

  @Test("A non-renewing purchase after a lapse starts at its purchase date")
  func nonRenewingAfterGap() {
    let facts = [0, 100].map { purchase("season", .nonRenewingSubscription, on: $0) }
    #expect(!pro(facts, on: 95).isEntitled)
    #expect(pro(facts, on: 110).until == at(190))
  }

  @Test("After a refund of a non-renewing purchase the following one starts earlier")
  func nonRenewingRefunded() {
    let first = purchase("season", .nonRenewingSubscription, on: 0).with { $0.revocationDate = at(40) }
    let second = purchase("season", .nonRenewingSubscription, on: 30)
    #expect(pro([first, second], on: 35).until == at(130))
    let future = second.with { $0.revocationDate = at(50) }
    let kept = purchase("season", .nonRenewingSubscription, on: 0)
    #expect(pro([kept, future], on: 60).until == at(90))
    #expect(pro([kept, future], on: 60).isEntitled)
  }

  @Test("A non-renewing purchase of quantity two lasts twice as long")
  func quantity() {
    let two = purchase("season", .nonRenewingSubscription, on: 0).with { $0.quantity = 2 }
    #expect(pro([two], on: 1).until == at(180))
  }

  @Test(
    "Consumables grant nothing, even if the catalog lists an entitlement",
    arguments: [ProductType.consumable, .unrecognized("Rental")])
  func nothing(type: ProductType) {
    let status = pro([purchase("odd", type, on: 0)], on: 1)
    #expect(!status.isEntitled)
    #expect(status.reason == .notEntitlingType)
    #expect(status.code == 0)
  }

  @Test("A product type that this version does not know is the catalog's")
  func unknownType() throws {
    func bought(_ product: String, until end: Int64? = nil) -> TransactionFact {
      purchase(product, .unrecognized("Subscription Suite"), on: 0).with {
        $0.expiresDate = end.map { at($0) }
      }
    }
    #expect(pro([bought("monthly", until: 30)], on: 5).reason == .subscriptionActive)
    #expect(pro([bought("monthly", until: 30)], on: 31).reason == .expired)
    #expect(pro([bought("lifetime")], on: 500).reason == .nonConsumableOwned)
    #expect(pro([bought("season")], on: 5).until == at(90))
    #expect(pro([bought("trial")], on: 5).reason == .trialActive)
    #expect(pro([bought("mystery", until: 30)], on: 5).reason == .unknownProduct)

    let facts = CustomerFacts(transactions: [bought("monthly", until: 30), bought("shells")])
    let overview = CustomerOverview(facts, in: app, at: at(5))
    let product = try #require(overview.products.first { $0.productID == "monthly" })
    #expect(product.state == .active && product.type == .autoRenewableSubscription)
    #expect(product.latest?.type == .unrecognized("Subscription Suite"))
    #expect(overview.groups.map(\.productID) == ["monthly"])
    #expect(overview.consumables.map(\.purchased) == [1])
    let events = EntitlementChange.purchases(
      in: FactsChange(from: CustomerFacts(), to: facts, by: .evidence), at: at(5))
    #expect(events.map(\.subject?.productID) == ["shells"])
  }

  @Test("A product missing from the catalog grants nothing, with its own reason")
  func unknownProduct() {
    let status = pro([purchase("mystery", .nonConsumable, on: 0)], on: 1)
    #expect(status.reason == .unknownProduct)
    #expect(status.productState == .new)
    #expect(pro([purchase("mystery", .nonConsumable, on: 2)], on: 1).reason == .neverPurchased)
    #expect(pro([purchase("mystery", .nonConsumable, on: 0), period(0...30)], on: 1).isEntitled)
  }

  @Test("A customer without a purchase is new")
  func neverPurchased() {
    #expect(pro([], on: 1) == pro([purchase("shells", .consumable, on: 0)], on: 1))
    #expect(pro([], on: 1).productState == .new)
    #expect(pro([], on: 1).until == nil)
  }

  @Test("An entitlement that no product grants has its own reason")
  func unknownEntitlement() {
    let status = evaluate(CustomerFacts(), entitlement: "gold", in: app, at: at(0))
    #expect(status.reason == .unknownEntitlement)
    #expect(!app.grants("gold"))
    #expect(app.entitlements == ["plus", "pro"])
  }

  @Test("The purchase that ends last decides, and the unbroken access spans all purchases")
  func acrossProducts() {
    let facts = [
      period(0...30), purchase("season", .nonRenewingSubscription, on: 20),
      period(105...135, line: "L2"),
    ]
    #expect(pro(facts, on: 25).deciding?.productID == "season")
    #expect(pro(facts, on: 5).until == at(135))
    let forever = facts + [purchase("lifetime", .nonConsumable, on: 120)]
    #expect(pro(forever, on: 5).until == nil)
    #expect(pro(forever, on: 5).checkAgainAt == at(20))
  }

  @Test("An own purchase survives the end of Family Sharing")
  func familySharing() {
    let own = period(0...30, line: "L2")
    let shared = period(0...30, line: "L1").with { $0.ownership = .familyShared }
    #expect(pro([shared, own], on: 5).deciding?.ownership == .purchased)
    let revoked = shared.with { $0.revocationDate = at(3) }
    #expect(pro([revoked, own], on: 5).isEntitled)
    #expect(pro([revoked], on: 5).reason == .familySharingEnded)
  }
}
