import AppStore
import Entitlements
import JSON
import TestSupport
import Testing

/// Upgrades in app receipts, which have no `is_upgraded`.
@Suite("Upgrades in receipts") struct ReceiptUpgradeTests {
  /// An entry of a receipt, by days; `cancelled` is in milliseconds after the given day. Only responses of
  /// `verifyReceipt` have the flag of an upgrade.
  private func entry(
    _ id: String, _ product: String, _ days: ClosedRange<Int64>, line: String = "1",
    cancelled: (day: Int64, milliseconds: Int64)? = nil, isUpgraded: Bool = false
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
    if isUpgraded { json["is_upgraded"] = "true" }
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

  /// As in responses of Apple's: the renewal is charged, then the customer upgrades before it begins, and Apple cancels
  /// it hours after the upgrade and after its start.
  @Test(
    "An upgrade stays in force when the renewal charged before it is cancelled", arguments: [true, false])
  func replacedRenewal(hasFlag: Bool) throws {
    let facts = [
      try entry("1", "monthly", 0...30), try entry("3", "plus", 29...394),
      try entry("2", "monthly", 30...60, cancelled: (30, 16_000_000), isUpgraded: hasFlag),
    ].withUpgradesMarked
    #expect(facts.map(\.isUpgraded) == [false, false, true])
    #expect(facts.allSatisfy { $0.revocationDate == nil })
    let customer = CustomerFacts(transactions: facts)
    for day in [29, 30, 31, 60, 393] as [Int64] {
      let plus = evaluate(customer, entitlement: "plus", in: app, at: at(day))
      #expect(plus.isEntitled && plus.deciding?.transactionID == "3", "day \(day)")
      #expect(evaluate(customer, entitlement: "pro", in: app, at: at(day)).reason == .upgraded, "day \(day)")
    }
  }

  @Test(
    "It stays in force when a signed document about a period has the milliseconds", arguments: [0, 751, 999],
    ["1", "2"])
  func signedPeriod(milliseconds: Int64, id: String) throws {
    var customer = CustomerFacts(
      transactions: [
        try entry("1", "monthly", 0...30, cancelled: (29, 3_600_000)),
        try entry("3", "plus", 29...394).with { $0.purchaseDate = at(29, hours: 1) },
        try entry("2", "monthly", 30...60, cancelled: (29, 3_600_000)),
      ].withUpgradesMarked)
    let days: ClosedRange<Int64> = id == "1" ? 0...30 : 30...60
    customer.insert(
      period(days, line: "1", id: id).with {
        $0.purchaseDate = at(days.lowerBound).advanced(byMilliseconds: milliseconds)
        $0.expiresDate = at(days.upperBound).advanced(byMilliseconds: milliseconds)
        $0.signedDate = at(min(days.lowerBound, 28), hours: 12)
      })
    for day in [30, 31, 60, 393] as [Int64] {
      let plus = evaluate(customer, entitlement: "plus", in: app, at: at(day))
      #expect(plus.isEntitled && plus.deciding?.transactionID == "3", "day \(day)")
    }
  }

  @Test("A renewal that was cancelled without an upgrade before it is refunded")
  func refundedRenewal() throws {
    let others = [
      // Bought before the renewal was charged, over before the renewal, the same product, another line.
      try entry("3", "plus", 28...393), try entry("3", "plus", 29...30), try entry("3", "monthly", 29...394),
      try entry("3", "plus", 29...394, line: "2"),
    ]
    for other in others {
      let facts = [
        try entry("1", "monthly", 0...30), other,
        try entry("2", "monthly", 30...60, cancelled: (30, 16_000_000)),
      ]
      #expect(facts.withUpgradesMarked == facts)
    }
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
