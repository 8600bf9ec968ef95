import AppStore
import Entitlements
import Testing

/// Events about purchases that do not renew.
@Suite struct PurchaseChangeTests {
  private let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [ProductDefinition(productID: "yearly", type: .nonConsumable, entitlements: ["pro"])])

  private func day(_ number: Int64) -> Instant {
    Instant(millisecondsSince1970: 1_800_000_000_000 + number * 86_400_000)
  }

  @Test("Each purchase that does not renew is an event, also without an entitlement")
  func purchases() {
    let coins = TransactionFact(
      transactionID: "C", originalTransactionID: "C", productID: "coins", type: .consumable,
      purchaseDate: day(3), quantity: 5, signedDate: day(3))
    let (none, bought) = (CustomerFacts(), CustomerFacts(transactions: [coins]))
    let purchase = FactsChange(from: none, to: bought, by: .evidence)
    let events = EntitlementChange.purchases(in: purchase, at: day(4))
    #expect(events.map(\.kind) == [.purchased] && events.map(\.effectiveAt) == [day(3)])
    #expect(events.first?.subject?.quantity == 5 && events.first?.entitlement == "")
    var refunded = coins
    refunded.revocationDate = day(8)
    refunded.signedDate = day(8)
    let refund = FactsChange(from: bought, to: CustomerFacts(transactions: [refunded]), by: .evidence)
    #expect(EntitlementChange.purchases(in: refund, at: day(9)).isEmpty)
    #expect(EntitlementChange.refunds(in: refund, of: app, at: day(9)).map(\.kind) == [.refunded])
    let first = FactsChange(from: none, to: CustomerFacts(transactions: [refunded]), by: .evidence)
    #expect(EntitlementChange.purchases(in: first, at: day(9)).map(\.kind) == [.purchased])
    #expect(EntitlementChange.refunds(in: first, of: app, at: day(9)).map(\.kind) == [.refunded])
    #expect(FactsChange(from: none, to: bought, by: .ownership).purchases.isEmpty)
  }

  @Test("Copies of a purchase are one purchase and one refund")
  func copies() {
    func copy(_ id: String, revoked: Int64? = nil) -> TransactionFact {
      TransactionFact(
        transactionID: id, originalTransactionID: "N", productID: "yearly", type: .nonConsumable,
        purchaseDate: day(id == "N" ? 0 : 5), revocationDate: revoked.map(day), signedDate: day(revoked ?? 5))
    }
    func kinds(_ before: [TransactionFact], _ after: [TransactionFact]) -> [PurchaseChange.Kind] {
      FactsChange(
        from: CustomerFacts(transactions: before), to: CustomerFacts(transactions: after), by: .evidence
      ).purchases.map(\.kind)
    }
    let both = [copy("N"), copy("M")]
    #expect(kinds([], both) == [.purchased])
    #expect(kinds([copy("M")], both) == [])
    #expect(kinds(both, [copy("N"), copy("M", revoked: 9)]) == [.refunded])
    #expect(kinds([copy("N"), copy("M", revoked: 9)], [copy("N", revoked: 9), copy("M", revoked: 9)]) == [])
  }

  /// One period of a subscription as its documents state it in this order, as events see it.
  private func events(_ writes: [[TransactionFact]]) -> [String] {
    var facts = CustomerFacts()
    var events: [String] = []
    for write in writes {
      var after = facts
      for document in write { after.insert(document) }
      let change = FactsChange(from: facts, to: after, by: .evidence)
      events += change.purchases.map {
        "\($0.kind) \($0.effectiveAt.milliseconds(since: day(0)) / 86_400_000)"
      }
      facts = after
    }
    return events
  }

  @Test("A refund and its reversal are two events, in whatever order their documents arrive")
  func reversedBefore() {
    let bought = TransactionFact(
      transactionID: "T", originalTransactionID: "T", productID: "monthly", type: .autoRenewableSubscription,
      purchaseDate: day(0), expiresDate: day(30), signedDate: day(0))
    var (refunded, reversed) = (bought, bought)
    (refunded.revocationDate, refunded.signedDate) = (day(9), day(10))
    refunded.details.refunds = [.init(date: day(9), percentage: nil)]
    reversed.signedDate = day(12)
    let unnotified = reversed
    reversed.details.reversals = [day(12)]
    let expected = ["refunded 9", "refundReversed 12"]
    for last in [reversed, unnotified] {
      #expect(events([[bought], [refunded], [last]]) == expected)
      #expect(events([[bought], [last], [refunded]]) == expected)
      #expect(events([[last], [bought], [refunded]]) == expected)
      #expect(events([[refunded], [bought], [last]]) == expected)
      #expect(events([[bought], [last, refunded]]) == expected)
      #expect(events([[last, refunded], [bought], [refunded], [last]]) == expected)
    }
    // A second refund, whose document arrives before that of the first one.
    var again = bought
    (again.revocationDate, again.signedDate) = (day(20), day(20))
    again.details.refunds = [.init(date: day(20), percentage: nil)]
    #expect(events([[bought], [again], [reversed], [refunded]]) == ["refunded 20"] + expected)
    // One refund whose date Apple corrected.
    #expect(events([[bought], [again], [refunded]]) == ["refunded 20"])
  }
}
