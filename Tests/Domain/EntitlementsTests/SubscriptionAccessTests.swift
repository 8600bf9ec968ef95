import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct SubscriptionAccessTests {
  @Test(
    "A paid period entitles from its purchase up to, not including, its expiry",
    arguments: [(-1, false), (0, true), (29, true), (30, false), (31, false)])
  func period(day: Int64, entitled: Bool) {
    #expect(pro([EntitlementsTests.period(0...30)], on: day).isEntitled == entitled)
  }

  @Test("Consecutive renewals are unbroken access, including one charged a day early")
  func run() {
    let facts = [
      EntitlementsTests.period(0...30), EntitlementsTests.period(29...60), EntitlementsTests.period(60...90),
    ]
    let status = pro(facts, on: 10)
    #expect(status.until == at(90))
    #expect(status.checkAgainAt == at(29))
    #expect(status.deciding?.transactionID == "L1-0")
  }

  @Test("A new period after a gap entitles; the gap does not")
  func gap() {
    let facts = [EntitlementsTests.period(0...30), EntitlementsTests.period(40...70)]
    #expect(pro(facts, on: 10).until == at(30))
    #expect(!pro(facts, on: 35).isEntitled)
    #expect(pro(facts, on: 35).checkAgainAt == at(40))
    #expect(pro(facts, on: 40).until == at(70))
  }

  @Test("The next purchase of the line cuts a period, even if the new one ends earlier")
  func upgradeCuts() {
    let facts = [
      EntitlementsTests.period(0...365, "yearly"), EntitlementsTests.period(10...40, "monthly"),
    ]
    #expect(pro(facts, on: 20).deciding?.productID == "monthly")
    #expect(pro(facts, on: 20).until == at(40))
    #expect(!pro(facts, on: 50).isEntitled)
  }

  @Test("An upgrade to a product without this entitlement ends access, even if isUpgraded never arrives")
  func upgradeAway() {
    let facts = [EntitlementsTests.period(0...30), EntitlementsTests.period(10...40, "plus")]
    let status = pro(facts, on: 20)
    #expect(!status.isEntitled)
    #expect(status.reason == .upgraded)
    #expect(status.code == -6)
    #expect(status.until == at(10))
    #expect(evaluate(CustomerFacts(transactions: facts), entitlement: "plus", in: app, at: at(20)).isEntitled)
  }

  @Test("A refund of the rest that comes with an upgrade leaves the reason, and another refund is the reason")
  func refundedUpgrade() {
    let upgrade = EntitlementsTests.period(10...40, "plus")
    for (day, reason) in [(10, .upgraded), (5, .refunded), (12, .upgraded)]
      as [(Int64, EntitlementReason)]
    {
      let old = EntitlementsTests.period(0...30).with {
        ($0.isUpgraded, $0.signedDate) = (true, at(12))
        $0.revocationDate = at(day)
        $0.revocationType = .refundProrated
      }
      let status = pro([old, upgrade], on: 20)
      #expect(status.reason == reason && status.until == at(min(day, 10)), "day \(day)")
    }
  }

  @Test("Until the upgrade arrives, access ends with the first document that says isUpgraded, in any order")
  func upgradedAlone() {
    let bought = EntitlementsTests.period(0...30)
    func upgraded(_ day: Int64) -> TransactionFact {
      bought.with { ($0.isUpgraded, $0.signedDate) = (true, at(day)) }
    }
    let documents = [bought, upgraded(20), upgraded(25)]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let facts = order.map { documents[$0] }
      #expect(pro(facts, on: 19).isEntitled && pro(facts, on: 19).until == at(20))
      #expect(pro(facts, on: 20).reason == .upgraded && pro(facts, on: 20).until == at(20))
      let arrived = facts + [EntitlementsTests.period(10...40, "plus")]
      #expect(pro(arrived, on: 9).until == at(10) && pro(arrived, on: 15).until == at(10))
    }
    // A document that is signed after the end of the period proves nothing about the time before.
    #expect(pro([upgraded(35)], on: 29).until == at(30) && pro([upgraded(35)], on: 40).until == at(30))
    // A later period of the line is not the upgrade.
    #expect(pro([upgraded(20), EntitlementsTests.period(40...70, "plus")], on: 25).until == at(20))
  }

  @Test("A copy of the upgraded transaction does not move the time of the report")
  func upgradedCopy() {
    let first = EntitlementsTests.period(0...30, id: "1").with {
      ($0.isUpgraded, $0.signedDate, $0.details.webOrderLineItemID) = (true, at(20), "7")
    }
    let copy = first.with { ($0.transactionID, $0.signedDate) = ("2", at(25)) }
    let restored = copy.with { $0.isUpgraded = false }
    for facts in [[first, copy], [first, restored]] {
      #expect(pro(facts, on: 19).until == at(20) && pro(facts, on: 21).until == at(20))
    }
  }

  /// As in Apple's sandbox, where a month lasts five minutes: several purchases are within a day of a renewal.
  @Test("A purchase before the period that renews did not replace the renewal")
  func earlierUpgrade() {
    func period(_ id: String, _ product: String, _ hours: ClosedRange<Int64>) -> TransactionFact {
      EntitlementsTests.period(0...365, product, id: id).with {
        $0.purchaseDate = at(0, hours: hours.lowerBound)
        $0.expiresDate = at(0, hours: hours.upperBound)
        $0.signedDate = at(1)
        $0.isUpgraded = ["1", "3"].contains(id)
        $0.details.transactionReason = id == "3" ? .renewal : .purchase
      }
    }
    let facts = [
      period("1", "plus", 0...600), period("2", "monthly", 1...4), period("3", "monthly", 4...8),
      period("4", "plus", 6...600),
    ]
    #expect(pro(facts, on: 0, hours: 5).deciding?.transactionID == "3")
    #expect(pro(facts, on: 0, hours: 5).isEntitled && !pro(facts, on: 0, hours: 6).isEntitled)
  }

  @Test("A refund of the rest ends access if the upgrade has not arrived")
  func upgradedAloneWithRefund() {
    let upgraded = EntitlementsTests.period(0...30).with {
      ($0.isUpgraded, $0.signedDate) = (true, at(12))
      $0.revocationDate = at(10)
      $0.revocationType = .refundProrated
    }
    #expect(pro([upgraded], on: 9).isEntitled && pro([upgraded], on: 9).until == at(10))
    #expect(pro([upgraded], on: 10).reason == .upgraded && pro([upgraded], on: 10).until == at(10))
  }

  @Test("A downgrade to a product without this entitlement is a product change, not a cancellation")
  func downgradeAway() {
    let status = pro([EntitlementsTests.period(0...30), EntitlementsTests.period(30...60, "plus")], on: 40)
    #expect(status.reason == .productChanged)
  }

  @Test("A refund ends access at its date", arguments: [(14, true), (15, false), (20, false)])
  func refund(day: Int64, entitled: Bool) {
    let refunded = EntitlementsTests.period(0...30).with { $0.revocationDate = at(15) }
    #expect(pro([refunded], on: day).isEntitled == entitled)
  }

  @Test("A refund of an old period removes only that period")
  func oldRefund() {
    let old = EntitlementsTests.period(0...30).with { $0.revocationDate = at(50) }
    let early = EntitlementsTests.period(0...30).with { $0.revocationDate = at(5) }
    for first in [old, early] {
      let status = pro([first, EntitlementsTests.period(30...60)], on: 55)
      #expect(status.isEntitled)
      #expect(status.until == at(60))
    }
    #expect(!pro([early, EntitlementsTests.period(30...60)], on: 10).isEntitled)
  }

  @Test("A reversed refund restores the period")
  func refundReversed() {
    let refunded = EntitlementsTests.period(0...30).with {
      $0.revocationDate = at(5)
      $0.signedDate = at(5)
    }
    let reversed = EntitlementsTests.period(0...30).with { $0.signedDate = at(7) }
    #expect(pro([reversed, refunded], on: 10).isEntitled)
  }

  @Test("An extension moves the expiry of the same transaction")
  func renewalExtended() {
    let extended = EntitlementsTests.period(0...37, id: "L1-0").with { $0.signedDate = at(20) }
    #expect(pro([extended, EntitlementsTests.period(0...30)], on: 35).until == at(37))
  }

  @Test("A renewal that an upgrade refunds before its period starts does not cut the upgrade")
  func upgradedBeforeStart() {
    let first = EntitlementsTests.period(0...30).with { $0.isUpgraded = true }
    let upgrade = EntitlementsTests.period(29...59, id: "U")
    let renewed = EntitlementsTests.period(30...60).with {
      $0.isUpgraded = true
      $0.revocationDate = at(29)
      $0.details.transactionReason = .renewal
    }
    for day in [29, 30, 45, 58] as [Int64] {
      let answer = pro([first, upgrade, renewed], on: day)
      #expect(answer.isEntitled && answer.deciding?.transactionID == "U", "day \(day)")
    }
    #expect(!pro([first, upgrade, renewed], on: 59).isEntitled)
  }

  @Test(
    "A renewal that an upgrade replaced before its period starts grants and replaces nothing",
    arguments: [false, true])
  func replacedBeforeStart(isMarked: Bool) {
    let renewed = EntitlementsTests.period(30...60).with {
      $0.isUpgraded = isMarked
      // The notification of the upgrade has no document about it.
      $0.signedDate = at(isMarked ? 29 : 28)
      $0.details.transactionReason = .renewal
    }
    let upgrade = EntitlementsTests.period(29...59, "plus", id: "U").with {
      $0.details.transactionReason = .purchase
    }
    let next = EntitlementsTests.period(59...89, "plus", id: "N").with {
      $0.details.transactionReason = .renewal
    }
    let facts = [EntitlementsTests.period(0...30), upgrade, renewed]
    for (day, deciding) in [(29, "U"), (30, "U"), (58, "U"), (59, "N"), (88, "N")] as [(Int64, String)] {
      let known = CustomerFacts(transactions: facts + [next])
      let plus = evaluate(known, entitlement: "plus", in: app, at: at(day))
      #expect(plus.isEntitled && plus.deciding?.transactionID == deciding, "day \(day)")
      #expect(pro(facts + [next], on: day).reason == .upgraded, "day \(day)")
    }
    #expect(CustomerFacts(transactions: facts).latestPeriod?.transaction.transactionID == "U")
    // An ordinary change of product at the renewal follows.
    let downgrade = renewed.with {
      ($0.purchaseDate, $0.expiresDate, $0.isUpgraded) = (at(59), at(89), false)
    }
    #expect(pro([upgrade, downgrade], on: 59).isEntitled)
  }

  @Test("Several transactions of one period do not cut each other")
  func onePeriodTwice() {
    let facts = [
      EntitlementsTests.period(0...30, id: "A"),
      EntitlementsTests.period(0...30, id: "B").with { $0.revocationDate = at(5) },
    ]
    #expect(pro(facts, on: 10).deciding?.transactionID == "A")
  }

  @Test("A contradictory period is stored and grants nothing")
  func contradictory() {
    let odd = EntitlementsTests.period(0...30).with { $0.expiresDate = at(-10) }
    #expect(odd.isContradictory)
    #expect(pro([odd], on: 0).reason == .expired)
    #expect(pro([odd, EntitlementsTests.period(5...35)], on: 6).isEntitled)
  }
}
