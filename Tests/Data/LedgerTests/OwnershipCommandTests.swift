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

  /// The owners of `L1`, the longest-standing first.
  private func owners(_ fixture: LedgerFixture) async throws -> [String] {
    try await fixture.store.snapshot {
      try $0.owners(of: LineKey(appID: "ocean", environment: .sandbox, lineID: "L1"))
    }
  }

  @Test("A transfer between two owners ends the share of the first, and its undo gives it back")
  func transferToCoOwner() async throws {
    try await LedgerFixture.run { fixture in
      let ledger = fixture.ledger
      _ = try await fixture.submit(fixture.period(40...70))
      _ = try await ledger.move("L1", to: "ben", policy: .share, fixture.scope)
      fixture.clock.set(at(51))
      let moved = try await ledger.move("L1", from: "ana", to: "ben", policy: .transfer, fixture.scope)
      #expect(moved.events.map(\.event.customer.customerID) == ["ana"])
      #expect(moved.events.map(\.event.change.kind) == [.transferred])
      #expect(try await owners(fixture) == ["ben"])
      #expect(try fixture.facts() == CustomerFacts())
      #expect(try fixture.facts(of: "ben")?.transactions.count == 1)
      fixture.clock.set(at(52))
      let undone = try await ledger.undo(moved.transferID, fixture.scope)
      #expect(undone.events.map(\.event.customer.customerID) == ["ana"])
      #expect(try await owners(fixture) == ["ben", "ana"])
      let again = try await ledger.move("L1", from: "ana", to: "ben", policy: .transfer, fixture.scope)
      _ = try await ledger.move("L1", from: "ben", to: "cat", policy: .transfer, fixture.scope)
      await #expect(throws: LedgerError.transferConflict(transfer: again.transferID)) {
        try await ledger.undo(again.transferID, fixture.scope)
      }
      #expect(try await owners(fixture) == ["cat"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "The policy decides about a purchase that the customer shares already",
    arguments: OwnershipPolicy.allCases)
  func linkOfCoOwner(_ policy: OwnershipPolicy) async throws {
    try await LedgerFixture.run { fixture in
      let ledger = fixture.ledger
      _ = try await fixture.submit(fixture.period(40...70))
      for customer in ["ben", "cat"] {
        _ = try await ledger.move("L1", to: customer, policy: .share, fixture.scope)
      }
      let linked = try await ledger.move("L1", to: "ben", policy: policy, fixture.scope)
      #expect(linked.events.map(\.event.customer.customerID) == (policy == .transfer ? ["ana", "cat"] : []))
      #expect((linked.evidenceID == nil) == (policy != .transfer))
      #expect(linked.previousCustomerIDs == (policy == .transfer ? ["ana", "cat"] : ["ana", "ben", "cat"]))
      #expect(try await owners(fixture) == (policy == .transfer ? ["ben"] : ["ana", "ben", "cat"]))
      #expect(try await ledger.move("L1", to: "ben", policy: policy, fixture.scope).evidenceID == nil)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("The policy KEEP refuses a transfer between two owners")
  func keepBetweenOwners() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      _ = try await fixture.ledger.move("L1", to: "ben", policy: .share, fixture.scope)
      await #expect(throws: LedgerError.ownedByAnotherCustomer(originalTransactionID: "L1")) {
        try await fixture.ledger.move("L1", from: "ana", to: "ben", policy: .keep, fixture.scope)
      }
      let shared = try await fixture.ledger.move("L1", from: "ana", to: "ben", policy: .share, fixture.scope)
      #expect(shared.evidenceID == nil)
      #expect(try await owners(fixture) == ["ana", "ben"])
    }
  }

  @Test("A merge of two owners is undone only while the second has the purchase")
  func mergeOfCoOwners() async throws {
    try await LedgerFixture.run { fixture in
      let ledger = fixture.ledger
      _ = try await fixture.submit(fixture.period(40...70))
      _ = try await ledger.move("L1", to: "ben", policy: .share, fixture.scope)
      let merged = try await ledger.merge("ana", into: "ben", fixture.scope)
      #expect(try await owners(fixture) == ["ben"])
      let moved = try await ledger.move("L1", from: "ben", to: "cat", policy: .transfer, fixture.scope)
      await #expect(throws: LedgerError.transferConflict(transfer: merged.transferID)) {
        try await ledger.undo(merged.transferID, fixture.scope)
      }
      _ = try await ledger.undo(moved.transferID, fixture.scope)
      fixture.clock.set(at(51))
      _ = try await ledger.undo(merged.transferID, fixture.scope)
      #expect(try await owners(fixture) == ["ben", "ana"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("What an undo gives back to a customer who was merged since goes to the merge target")
  func undoAfterMerge() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let moved = try await fixture.ledger.move("L1", to: "ben", policy: .transfer, fixture.scope)
      _ = try await fixture.ledger.merge("ana", into: "cat", fixture.scope)
      let undone = try await fixture.ledger.undo(moved.transferID, fixture.scope)
      #expect(undone.events.map(\.event.customer.customerID) == ["ben", "cat"])
      #expect(try await owners(fixture) == ["cat"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A transfer from a customer who was erased since is not undone")
  func undoAfterErasure() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let moved = try await fixture.ledger.move("L1", to: "ben", policy: .transfer, fixture.scope)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      await #expect(throws: LedgerError.transferConflict(transfer: moved.transferID)) {
        try await fixture.ledger.undo(moved.transferID, fixture.scope)
      }
      #expect(try await owners(fixture) == ["ben"])
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
