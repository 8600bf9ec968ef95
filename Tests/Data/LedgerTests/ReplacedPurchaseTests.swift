import AppStore
import JSON
import Store
import Testing

@testable import Ledger

/// Purchases that replaced another one (`previousOriginalTransactionId`), before and after that one has an
/// owner.
@Suite("Replaced purchases") struct ReplacedPurchaseTests {
  /// The signed transaction of `line`, which replaced the line before it.
  private func document(_ line: Int, _ fixture: LedgerFixture) throws -> String {
    let replaces = ["previousOriginalTransactionId": .string("L\(line - 1)")] as JSONObject
    let start = Int64(20 * line)
    return try fixture.period(start...(start + 30), line: "L\(line)", line > 1 ? replaces : [:])
  }

  private func lines(of customer: String, _ fixture: LedgerFixture) throws -> [String] {
    try fixture.facts(of: customer)?.transactions.map(\.originalTransactionID) ?? []
  }

  @Test(
    "All purchases in a row go to the owner of the first, whatever arrives first",
    arguments: [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]])
  func order(_ order: [Int]) async throws {
    try await LedgerFixture.run { fixture in
      for line in order {
        _ = try await fixture.submit(document(line, fixture), for: line == 1 ? "ana" : nil)
      }
      #expect(try lines(of: "ana", fixture) == ["L1", "L2", "L3"])
      #expect(try await fixture.unclaimed().isEmpty)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A claim and a link of the replaced purchase link the other one, and undo reverts both")
  func commands() async throws {
    try await LedgerFixture.run { fixture in
      for line in [2, 1] { _ = try await fixture.submit(document(line, fixture), for: nil) }
      #expect(try await fixture.unclaimed() == ["L1", "L2"])
      let linked = try await fixture.ledger.move("L1", to: "ben", policy: .keep, fixture.scope)
      #expect(try lines(of: "ben", fixture) == ["L1", "L2"])
      _ = try await fixture.ledger.undo(linked.transferID, fixture.scope)
      #expect(try await fixture.unclaimed() == ["L1", "L2"])
      // The submission of a stored document is a claim.
      _ = try await fixture.submit(document(1, fixture), for: "ana")
      #expect(try lines(of: "ana", fixture) == ["L1", "L2"])
      #expect(try await fixture.unclaimed().isEmpty)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "With the token of the replaced purchase it has the owners of that one, with another token its customer")
  func tokens() async throws {
    try await LedgerFixture.run { fixture in
      let (ofAna, ofCleo) = ("8f2f9e3a-5a10-4b0a-9a63-0d3ac1a0e0aa", "7e3fb204-2f3b-4a7a-9b1c-1f3f6f0a1c11")
      func submit(_ line: String, token: String, _ changes: JSONObject = [:], for customer: String?)
        async throws
      {
        var changes = changes
        changes["appAccountToken"] = .string(token)
        _ = try await fixture.submit(fixture.period(0...30, line: line, changes), for: customer)
      }
      try await submit("L1", token: ofAna, for: "ana")
      try await submit("L9", token: ofCleo, for: "cleo")
      _ = try await fixture.ledger.move("L1", from: "ana", to: "ben", policy: .transfer, fixture.scope)
      let replaces = ["previousOriginalTransactionId": "L1"] as JSONObject
      try await submit("L2", token: ofAna.uppercased(), replaces, for: nil)
      try await submit("L3", token: ofCleo, replaces, for: nil)
      #expect(try lines(of: "ana", fixture).isEmpty)
      #expect(try lines(of: "ben", fixture) == ["L1", "L2"])
      #expect(try lines(of: "cleo", fixture) == ["L3", "L9"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A purchase that has an owner stays with it when the replaced one gets another owner")
  func owned() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(document(2, fixture), for: "ben")
      _ = try await fixture.submit(document(1, fixture), for: "ana")
      #expect(try lines(of: "ana", fixture) == ["L1"])
      #expect(try lines(of: "ben", fixture) == ["L2"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }
}
