import AppStore
import Entitlements
import TestSupport
import Testing

/// Receipts beside signed documents about the same transaction.
@Suite struct ReceiptStatementTests {
  private static func signed(
    _ day: Int64, until end: Int64 = 30, _ change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    period(0...end).with {
      $0.transactionID = "T"
      $0.signedDate = at(day)
      $0.details.price = 990
      change(&$0)
    }
  }

  private static func receipt(_ day: Int64, cancelled: Int64? = nil) -> TransactionFact {
    signed(day) {
      $0.details = TransactionDetails()
      $0.details.isFromReceipt = true
      $0.revocationDate = cancelled.map { at($0) }
      if cancelled != nil { $0.revocationReason = .appIssue }
    }
  }

  private static func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index -> [[Element]] in
      var rest = elements
      let first = rest.remove(at: index)
      return permutations(rest).map { [first] + $0 }
    }
  }

  /// The only fact of the documents, which must be the same in every order.
  private func fact(_ documents: [TransactionFact]) throws -> TransactionFact {
    let all = Set(Self.permutations(documents).map { CustomerFacts(transactions: $0) })
    #expect(all.count == 1, "the order matters")
    let joined = Set(
      (0...documents.count).map { count in
        var facts = CustomerFacts(transactions: Array(documents.suffix(from: count)))
        facts.merge(CustomerFacts(transactions: Array(documents.prefix(count))))
        return facts
      })
    #expect(joined == all)
    return try #require(all.first?.transactions.first)
  }

  @Test("A cancellation in a receipt counts beside an older signed transaction")
  func cancelled() throws {
    let fact = try fact([Self.signed(5), Self.receipt(10, cancelled: 9)])
    #expect(fact.revocationDate == at(9) && fact.revocationReason == .appIssue)
    #expect(!fact.details.isFromReceipt && fact.details.price == 990 && fact.signedDate == at(5))
    let answer = pro([fact], on: 12)
    #expect(answer.reason == .refundedForAppIssue && answer.until == at(9))
    #expect(pro([fact], on: 8).isEntitled)
    // The signed document about an extension is older, too, and its end counts.
    let extended = try self.fact([
      Self.signed(5), Self.receipt(10, cancelled: 9), Self.signed(8, until: 37),
    ])
    #expect(extended.expiresDate == at(37) && extended.revocationDate == at(9))
  }

  @Test("A later document without a cancellation, or a signed one with its own, takes its place")
  func superseded() throws {
    let cancelled = Self.receipt(10, cancelled: 9)
    #expect(try fact([Self.signed(5), cancelled, Self.signed(12)]).revocationDate == nil)
    #expect(try fact([Self.signed(5), cancelled, Self.receipt(12)]).revocationDate == nil)
    #expect(
      try fact([Self.signed(5), Self.receipt(8), cancelled, Self.receipt(9)]).revocationDate == at(9))
    let refunded = Self.signed(11) { $0.revocationDate = at(7) }
    #expect(try fact([Self.signed(5), cancelled, refunded]).revocationDate == at(7))
    let refundedBefore = Self.signed(8) { $0.revocationDate = at(7) }
    #expect(try fact([Self.signed(5), cancelled, refundedBefore]).revocationDate == at(7))
    #expect(
      try fact([cancelled, refundedBefore, Self.signed(9), Self.receipt(6, cancelled: 3)]).revocationDate
        == at(9))
  }

  @Test("The cancellation of a copy of the period counts, too")
  func copy() {
    func copy(_ fact: TransactionFact, _ id: String) -> TransactionFact {
      fact.with {
        $0.transactionID = id
        $0.details.webOrderLineItemID = "W"
      }
    }
    let signed = copy(Self.signed(5), "A")
    for id in ["B", "0"] {
      #expect(pro([signed, copy(Self.receipt(10, cancelled: 9), id)], on: 12).reason == .refundedForAppIssue)
      #expect(pro([signed, copy(Self.receipt(4, cancelled: 3), id)], on: 12).isEntitled)
    }
  }

  @Test("The fact as stated has nothing of the receipt, and the cancellation is new information")
  func stated() {
    let signed = Self.signed(5)
    let facts = CustomerFacts(transactions: [signed, Self.receipt(10, cancelled: 9)])
    #expect(facts.contains(.transaction(signed)))
    #expect(facts.undated != CustomerFacts(transactions: [signed]).undated)
    let unchanged = CustomerFacts(transactions: [signed, Self.receipt(10)])
    #expect(unchanged.undated == CustomerFacts(transactions: [signed]).undated)
    let change = FactsChange(from: CustomerFacts(transactions: [signed]), to: facts, by: .evidence)
    #expect(change.purchases.map(\.kind) == [.refunded])
    #expect(change.purchases.map(\.effectiveAt) == [at(9)])
  }
}
