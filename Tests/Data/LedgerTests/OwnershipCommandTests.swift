import AppStore
import Entitlements
import Ledger
import Store
import TestSupport
import Testing

/// The operator's commands about customers: transfers, merges, grants and erasures, with their undo.
@Suite struct OwnershipCommandTests {
  @Test("A transfer and its undo change both customers in one commit with consecutive events")
  func transfer() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let moved = try await fixture.ledger.move(
        "L1", from: "ana", to: "ben", policy: .transfer, fixture.scope)
      #expect(moved.events.map(\.event.customer.customerID) == ["ana", "ben"])
      #expect(moved.events[1].sequence == moved.events[0].sequence + 1)
      #expect(moved.events.map(\.event.change.after.isEntitled) == [false, true])
      #expect(
        moved.events.allSatisfy { $0.event.actor == "support" && $0.event.evidenceID == moved.evidenceID })
      #expect(try fixture.facts() == CustomerFacts())
      let undone = try await fixture.ledger.undo(moved.transferID, fixture.scope)
      #expect(undone.events.map(\.event.customer.customerID) == ["ben", "ana"])
      #expect(try fixture.facts()?.transactions.count == 1)
      await #expect(throws: LedgerError.transferConflict(transfer: moved.transferID)) {
        try await fixture.ledger.undo(moved.transferID, fixture.scope)
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Customers whose ids are only canonically equivalent stay distinct")
  func equivalentIDs() async throws {
    let (composed, decomposed) = ("ren\u{E9}", "rene\u{301}")
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(40...70)
      _ = try await fixture.submit(jws, for: composed)
      await #expect(throws: LedgerError.ownedByAnotherCustomer(originalTransactionID: "L1")) {
        try await fixture.submit(jws, for: decomposed)
      }
      _ = try await fixture.ledger.move(
        "L1", from: composed, to: decomposed, policy: .transfer, fixture.scope)
      #expect(try fixture.facts(of: composed) == CustomerFacts())
      #expect(try fixture.facts(of: decomposed)?.transactions.count == 1)
      _ = try await fixture.ledger.erase(composed, fixture.scope)
      #expect(try fixture.facts(of: decomposed)?.transactions.count == 1)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A dry run returns the result and changes nothing")
  func dryRun() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      var scope = fixture.scope
      scope.isDryRun = true
      let outcome = try await fixture.ledger.move("L1", to: "ben", policy: .transfer, scope)
      #expect(outcome.events.count == 2)
      #expect(try fixture.facts(of: "ben") == nil)
      #expect(try await fixture.events().count == 1)
      #expect(try await fixture.evidence().count == 1)
    }
  }

  @Test("A merge moves later evidence to the merge target until it is undone")
  func merge() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, line: "L1"), for: "anonymous-1")
      _ = try await fixture.submit(fixture.period(40...70, line: "L2"))
      _ = try await fixture.ledger.grant("pro", to: "anonymous-1", fixture.scope)
      let merged = try await fixture.ledger.merge("anonymous-1", into: "ana", fixture.scope)
      #expect(merged.lines == ["L1"])
      #expect(try fixture.facts()?.transactions.count == 2)
      #expect(try fixture.facts()?.grants.count == 1)
      #expect(try fixture.facts(of: "anonymous-1") == CustomerFacts())
      let later = try await fixture.submit(fixture.period(70...100, line: "L1"), for: "anonymous-1")
      #expect(later.customerID == "ana")
      #expect(try await fixture.ledger.merge("anonymous-1", into: "ana", fixture.scope).evidenceID == nil)
      _ = try await fixture.ledger.undo(merged.transferID, fixture.scope)
      #expect(try fixture.facts(of: "anonymous-1")?.transactions.count == 2)
      #expect(try fixture.facts()?.transactions.map(\.originalTransactionID) == ["L2"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A grant is revoked once, and both commands are in the timeline")
  func grants() async throws {
    try await LedgerFixture.run { fixture in
      let given = try await fixture.ledger.grant("pro", until: at(80), to: "ana", fixture.scope)
      let id = try #require(given.grant?.grantID)
      let revoked = try await fixture.ledger.revokeGrant(id, fixture.scope)
      #expect(revoked.grant?.revokedAt == at(50))
      #expect(try await fixture.ledger.revokeGrant(id, fixture.scope).evidenceID == nil)
      #expect(try await fixture.events().map(\.event.change.kind) == [.granted, .grantRevoked])
      await #expect(throws: LedgerError.unknownGrant("grant-99")) {
        try await fixture.ledger.revokeGrant("grant-99", fixture.scope)
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Erasing a customer leaves no id, and the purchase is unclaimed")
  func erase() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(40...70)
      _ = try await fixture.submit(jws, for: "ana.secret")
      var scope = fixture.scope
      scope.note = "secret reason"
      _ = try await fixture.ledger.grant("pro", to: "ana.secret", scope)
      _ = try await fixture.ledger.merge("phone.secret", into: "ana.secret", scope)
      scope.note = ""
      scope.isDryRun = true
      let counted = try await fixture.ledger.erase("ana.secret", scope)
      scope.isDryRun = false
      let erased = try await fixture.ledger.erase("ana.secret", scope)
      #expect(erased.erasedRows > 5)
      #expect(counted.erasedRows == erased.erasedRows)
      #expect(try fixture.facts(of: "ana.secret") == nil)
      #expect(try await fixture.unclaimed() == ["L1"])
      for evidence in try await fixture.evidence() {
        #expect(evidence.customerID?.contains("secret") != true)
        let body = String(decoding: evidence.content.body ?? [], as: UTF8.self)
        #expect(evidence.kind != .operatorCommand || !body.contains("secret"))
      }
      #expect(try await fixture.events().allSatisfy { $0.event.customer.customerID.hasPrefix("erased-") })
      #expect(try await fixture.replayDifferences().isEmpty)
      let repeated = try await fixture.ledger.erase("ana.secret", scope)
      #expect(repeated.erasedRows == 0)
      #expect(repeated.erasures.map(\.pseudonym) == erased.erasures.prefix(1).map(\.pseudonym))
      await #expect(throws: LedgerError.unknownCustomer) {
        try await fixture.ledger.erase("stranger", scope)
      }
      #expect(try await fixture.submit(jws, for: "ben").customerID == "ben")
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }
}
