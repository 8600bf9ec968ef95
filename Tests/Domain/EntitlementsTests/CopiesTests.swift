import AppStore
import Entitlements
import Reports
import TestSupport
import Testing

/// Several transactions of one purchase, and several purchases of one period.
@Suite struct CopiesTests {
  /// One period under two transaction ids, as after a restore.
  private static let restored = [charged("A", on: 0), charged("B", on: 3)]

  private static func charged(_ id: String, on day: Int64, until end: Int64 = 30) -> TransactionFact {
    period(day...end, id: id).with {
      $0.details.webOrderLineItemID = "W0"
      $0.details.price = 9_990
      $0.details.currency = "USD"
    }
  }

  private static func unlocked(_ id: String, on day: Int64) -> TransactionFact {
    purchase("lifetime", .nonConsumable, on: day, id: id).with { $0.originalTransactionID = "N" }
  }

  @Test("Copies of a period are one purchase, in any order", arguments: [restored, restored.reversed()])
  func onePurchase(copies: [TransactionFact]) {
    let next = period(30...60).with { $0.details.webOrderLineItemID = "W30" }
    let facts = CustomerFacts(transactions: copies + [next])
    #expect(facts.withoutCopies.transactions.map(\.transactionID) == ["A", "L1-30"])
    #expect(facts.withoutCopies.withoutCopies == facts.withoutCopies)
    let answer = pro(copies + [next], on: 5)
    #expect(answer.deciding?.transactionID == "A")
    #expect(answer.since == at(0) && answer.until == at(60))
  }

  @Test("A copy that was bought later does not end the period, and revoking it does")
  func revoked() {
    for revoked in 0...1 {
      var copies = Self.restored
      copies[revoked].revocationDate = at(9)
      copies[revoked].signedDate = at(9)
      #expect(pro(copies, on: 8).isEntitled)
      #expect(pro(copies, on: 10).reason == .refunded, "copy \(revoked)")
    }
  }

  @Test("The latest document about any copy states whether the purchase is revoked")
  func reversed() {
    var copies = Self.restored
    for (copy, day) in [(0, 9), (1, 10)] as [(Int, Int64)] {
      copies[copy].revocationDate = at(9)
      copies[copy].signedDate = at(day)
    }
    #expect(pro(copies, on: 11).reason == .refunded)
    copies[0].revocationDate = nil
    copies[0].signedDate = at(12)
    #expect(pro(copies, on: 13).isEntitled, "the refund was reversed after the copy was signed")
  }

  @Test("Revoking one copy of a non-consumable revokes it")
  func nonConsumable() {
    let first = Self.unlocked("N", on: 0)
    let copy = Self.unlocked("M", on: 20)
    #expect(pro([first, copy], on: 25).since == at(0))
    let refunded = copy.with { $0.revocationDate = at(22) }
    #expect(!pro([first, refunded], on: 25).isEntitled)
    let other = purchase("lifetime", .nonConsumable, on: 5)
    #expect(pro([first, refunded, other], on: 25).deciding?.transactionID == other.transactionID)
  }

  @Test(
    "A non-consumable that is shared again is another purchase, and a restore before the end of sharing is none"
  )
  func sharedAgain() {
    func shared(_ id: String, on day: Int64, ended: Int64? = nil) -> TransactionFact {
      Self.unlocked(id, on: day).with {
        $0.originalPurchaseDate = at(-50)
        $0.ownership = .familyShared
        guard let ended else { return }
        ($0.revocationDate, $0.revocationType, $0.signedDate) = (at(ended), .familyRevoke, at(ended))
      }
    }
    let documents = [
      shared("N1", on: 0), shared("N2", on: 5, ended: 10), shared("N3", on: 20), shared("N4", on: 25),
    ]
    for documents in [documents, documents.reversed()] {
      let facts = CustomerFacts(transactions: documents)
      #expect(facts.withoutCopies.transactions.map(\.transactionID) == ["N1", "N3"])
      #expect(facts.withoutCopies.withoutCopies == facts.withoutCopies)
      #expect(pro(documents, on: 9).since == at(0) && pro(documents, on: 9).until == at(10))
      #expect(pro(documents, on: 15).reason == .familySharingEnded && pro(documents, on: 15).until == at(10))
      #expect(pro(documents, on: 30).since == at(20))
    }
  }

  @Test("Copies are one sum of money, and one refund")
  func money() {
    var copies = Self.restored
    #expect(charges(CustomerFacts(transactions: copies)).map(\.amount) == [9_990])
    copies[1].revocationDate = at(9)
    let refunded = CustomerFacts(transactions: copies)
    #expect(charges(refunded).map(\.amount) == [9_990, -9_990])
    #expect(movements(refunded, on: 40) == [.startedPaid, .refundedOut])
  }

  @Test("Transactions without a web order line item id are no copies")
  func distinct() {
    let facts = CustomerFacts(transactions: [
      period(0...30, id: "A"), EntitlementsTests.period(3...30, id: "B"),
    ])
    #expect(facts.withoutCopies == facts)
  }

  @Test("Added seats are parallel to the period: separate money, one start and one end")
  func addedSeats() {
    func seats(_ id: String, on day: Int64) -> TransactionFact {
      Self.charged(id, on: day).with { $0.details.additionalTransactionReason = "SEAT_ADDITION" }
    }
    let team = [seats("A", on: 0), seats("B", on: 9)]
    let facts = CustomerFacts(transactions: team)
    #expect(facts.withoutCopies == facts)
    #expect(charges(facts).count == 2)
    #expect(movements(facts, on: 40) == [.startedPaid, .lapsedOther])
    let refunded = [team[0].with { $0.revocationDate = at(12) }, team[1]]
    #expect(pro(refunded, on: 13).until == at(30))
  }

  @Test("An explanation names the copies with their own facts")
  func explained() {
    let facts = CustomerFacts(transactions: Self.restored)
    let steps = Explanation(facts, entitlement: "pro", in: app, at: at(5)).steps
    #expect(steps.first { $0.rule == "COPY" }?.transactionID == "B")
    #expect(
      steps.compactMap(\.fact) == [.transaction(Self.restored[0]), .transaction(Self.restored[1])])
  }
}
