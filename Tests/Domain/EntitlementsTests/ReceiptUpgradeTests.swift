import AppStore
import Entitlements
import JSON
import TestSupport
import Testing

/// Upgrades in app receipts, which have no `is_upgraded`.
@Suite("Upgrades in receipts") struct ReceiptUpgradeTests {
  /// An entry of a receipt, by days; `cancelled` is in milliseconds after the given day.
  private func entry(
    _ id: String, _ product: String, _ days: ClosedRange<Int64>, line: String = "1",
    cancelled: (day: Int64, milliseconds: Int64)? = nil
  ) throws -> TransactionFact {
    func text(_ instant: Instant) -> JSONValue { .string(String(instant.millisecondsSince1970)) }
    var json: JSONObject = [
      "transaction_id": .string(id), "original_transaction_id": .string(line),
      "product_id": .string(product), "purchase_date_ms": text(at(days.lowerBound)),
      "expires_date_ms": text(at(days.upperBound)),
    ]
    json["cancellation_date_ms"] = cancelled.map {
      text(at($0.day).advanced(byMilliseconds: $0.milliseconds))
    }
    return try TransactionFact(
      LegacyTransaction(json: json), type: .autoRenewableSubscription, createdAt: at(20))
  }

  private func reason(_ facts: [TransactionFact]) -> EntitlementReason {
    evaluate(
      CustomerFacts(transactions: facts.withUpgradesMarked), entitlement: "plus", in: app, at: at(20)
    ).reason
  }

  @Test("A period that was cancelled when another product of its line was bought is upgraded, not refunded")
  func upgraded() throws {
    for milliseconds in [-1_000, 0, 1_000] as [Int64] {
      let facts = [
        try entry("1", "plus", 0...30, cancelled: (10, milliseconds)), try entry("2", "monthly", 10...40),
      ]
      #expect(reason(facts) == .upgraded)
      #expect(facts.withUpgradesMarked.map(\.isUpgraded) == [true, false])
      #expect(facts.withUpgradesMarked.map(\.revocationDate) == [nil, nil])
    }
  }

  @Test("A period that was cancelled otherwise is refunded")
  func refunded() throws {
    let others = [
      // Later, of the same product, of another line, and a renewal after the end.
      (Int64(10), Int64(1_001), try entry("2", "monthly", 10...40)),
      (10, 0, try entry("2", "plus", 10...40)),
      (10, 0, try entry("2", "monthly", 10...40, line: "2")),
      (30, 0, try entry("2", "monthly", 30...60)),
    ]
    for (day, milliseconds, other) in others {
      let facts = [try entry("1", "plus", 0...30, cancelled: (day, milliseconds)), other]
      #expect(facts.withUpgradesMarked == facts)
    }
    #expect(reason([try entry("1", "plus", 0...30, cancelled: (10, 0))]) == .refunded)
  }

  @Test("A refunded upgrade stays refunded")
  func refundedUpgrade() throws {
    let facts = [
      try entry("1", "plus", 0...30, cancelled: (10, 0)),
      try entry("2", "monthly", 10...40, cancelled: (12, 0)),
    ]
    #expect(facts.withUpgradesMarked.map(\.revocationDate) == [nil, at(12)])
  }
}
