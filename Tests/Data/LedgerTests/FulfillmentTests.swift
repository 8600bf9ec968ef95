import AppStore
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// The delivery of consumables: once per transaction, and back after a refund.
@Suite struct FulfillmentTests {
  private static let appEnvironment = AppEnvironment(appID: "ocean", environment: .sandbox)

  /// Five coins under one transaction.
  private func coins(
    _ fixture: LedgerFixture, line: String = "C", refunded day: Int64? = nil, percent: Int64? = nil
  ) throws -> String {
    var changes: JSONObject = [
      "type": "Consumable", "productId": "coins", "expiresDate": .null, "quantity": 5,
    ]
    if let day { changes["revocationDate"] = .number(JSONNumber(at(day).millisecondsSince1970)) }
    if let percent { changes["revocationPercentage"] = .number(JSONNumber(percent * 1_000)) }
    return try fixture.period(40...70, line: line, signed: day ?? 40, changes)
  }

  private func due(_ fixture: LedgerFixture, customer: String? = nil) async throws -> [String] {
    var filter = UnfulfilledFilter(appEnvironment: Self.appEnvironment, limit: 9)
    filter.customerID = customer
    return try await fixture.store.snapshot { [filter] in try $0.unfulfilled(filter) }
      .map { "\($0.customerID) \($0.record.transactionID) \($0.record.due)" }
  }

  private func acknowledge(
    _ fixture: LedgerFixture, _ id: String, units: Int64? = nil
  ) async throws(LedgerError) -> Int64 {
    try await fixture.ledger.acknowledgeFulfillment(of: "C-40", as: id, units: units, fixture.scope).due
  }

  @Test("A consumable is to be delivered once, and its units back after a refund")
  func once() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(coins(fixture))
      _ = try await fixture.submit(fixture.period(40...70), for: "ben")
      #expect(try await due(fixture) == ["ana C-40 5"])
      #expect(try await due(fixture, customer: "ben").isEmpty)
      #expect(try await acknowledge(fixture, "d1") == 0)
      #expect(try await acknowledge(fixture, "d1") == 0)
      #expect(try await due(fixture).isEmpty)
      await #expect(throws: LedgerError.alreadyFulfilled(transaction: "C-40", fulfillment: "d1")) {
        try await acknowledge(fixture, "d2")
      }
      _ = try await fixture.submit(coins(fixture, refunded: 45))
      #expect(try await due(fixture) == ["ana C-40 -5"])
      #expect(try await acknowledge(fixture, "back") == 0)
      #expect(try await due(fixture).isEmpty)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "A purchase that was refunded before its delivery is not listed, unless the delivery crossed the refund")
  func crossed() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(coins(fixture, refunded: 45))
      #expect(try await due(fixture).isEmpty)
      #expect(try await acknowledge(fixture, "d1") == -5)
      #expect(try await due(fixture) == ["ana C-40 -5"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("After a partial refund the refunded share of the units is to be taken back")
  func partial() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(coins(fixture))
      #expect(try await acknowledge(fixture, "d1", units: 3) == 2)
      _ = try await fixture.submit(coins(fixture, refunded: 45, percent: 60))
      #expect(try await due(fixture) == ["ana C-40 -1"])
      await #expect(throws: LedgerError.alreadyFulfilled(transaction: "C-40", fulfillment: "d1")) {
        try await acknowledge(fixture, "d2", units: -2)
      }
      #expect(try await acknowledge(fixture, "d2", units: -1) == 0)
    }
  }

  @Test("An unclaimed purchase is listed once it has an owner; other products are never listed")
  func owners() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(coins(fixture), for: nil)
      #expect(try await due(fixture).isEmpty)
      _ = try await fixture.ledger.move("C", to: "ana", policy: .keep, fixture.scope)
      #expect(try await due(fixture) == ["ana C-40 5"])
      #expect(try await fixture.events().map(\.event.change.kind) == [.purchased, .claimed])
      await #expect(throws: LedgerError.unknownConsumable("L1-40")) {
        _ = try await fixture.submit(fixture.period(40...70))
        _ = try await fixture.ledger.acknowledgeFulfillment(
          of: "L1-40", as: "d1", units: nil, fixture.scope)
      }
    }
  }
}
