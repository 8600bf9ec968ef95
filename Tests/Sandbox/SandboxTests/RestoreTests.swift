import AppStore
import JSON
import Testing

@testable import Sandbox

/// Restored purchases.
@Suite struct RestoreTests {
  private var demo = DemoWorld()

  // Apple: transactionId; Apple Developer Forums, threads 711952 and 736020.
  @Test("A restore on another device gives a subscription a new transaction id and keeps its other ids")
  mutating func newDevice() throws {
    let first = try demo.buy("monthly")
    demo.pass(days: 31)
    let unlock = try demo.buy("unlock")
    try demo.buy("coins")
    let renewal = try demo.sold(demo.line().current)
    let again = try demo.act(.restore, ["account": "ann"]).transactions
    let restored = try demo.act(.restore, ["account": "ann", "newDevice": true]).transactions
    #expect(restored.count == 2 && restored[1] == unlock)
    #expect(Set(restored + again + [first, renewal.id]).count == 5)
    let copy = try #require(demo.world.transaction(restored[0]))
    let payload = demo.world.payload(of: copy, signed: demo.world.now)
    var original = demo.world.payload(of: renewal, signed: demo.world.now)
    original["transactionId"] = .string(String(restored[0]))
    #expect(payload == original)
  }

  @Test("A restore on the same device returns the known ids")
  mutating func sameDevice() throws {
    let first = try demo.buy("monthly")
    #expect(try demo.act(.restore, ["account": "ann", "newDevice": false]).transactions == [first])
  }

  @Test("A refund of a restored transaction refunds its purchase")
  mutating func refund() throws {
    let first = try demo.buy("monthly")
    let copy = try #require(try demo.act(.restore, ["account": "ann", "newDevice": true]).transactions.first)
    try demo.act(.refund, ["transactionId": .string(String(copy))])
    #expect(try demo.sold(first).revocation != nil)
    #expect(demo.world.transaction(copy)?.revocation != nil)
    #expect(demo.world.transactions[copy] == nil)
    try demo.act(.clearHistory, ["account": "ann"])
    #expect(demo.world.transaction(copy) == nil)
  }

  // Apple: original_transaction_id.
  @Test("A non-consumable that is bought again after a refund is a new purchase")
  mutating func boughtAgain() throws {
    let first = try demo.buy("unlock")
    #expect(try demo.buy("unlock") == first)
    try demo.act(.refund, ["transactionId": .string(String(first))])
    demo.pass(days: 1)
    let second = try demo.buy("unlock")
    #expect(try demo.sold(second).originalID == second && second != first)
    #expect(try demo.sold(second).originalPurchaseDate == day(1))
    #expect(try demo.sold(first).revocation != nil && demo.sold(second).revocation == nil)
  }
}
