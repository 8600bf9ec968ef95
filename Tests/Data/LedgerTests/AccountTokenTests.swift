import AppStore
import Entitlements
import JSON
import Ledger
import Store
import Synchronization
import TestSupport
import Testing

/// Purchases that find their customers by `appAccountToken`, and purchases with the token of another customer.
@Suite struct AccountTokenTests {
  private let token = "8f2f9e3a-5a10-4b0a-9a63-0d3ac1a0e0aa"

  private func period(
    _ fixture: LedgerFixture, _ line: String = "L1", days: ClosedRange<Int64> = 40...70
  ) throws -> String {
    try fixture.period(days, line: line, ["appAccountToken": .string(token.uppercased())])
  }

  private func useTokensAsCustomers(_ fixture: LedgerFixture) {
    fixture.catalog.replace(
      with: Catalog([LedgerFixture.oceanApp(.keep, customerFromAppAccountToken: true)]))
  }

  @Test("With customer_from_app_account_token a first purchase entitles without a submission")
  func customerFromToken() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, days: 10...40), for: nil)
      #expect(try await fixture.unclaimed() == ["L1"])
      useTokensAsCustomers(fixture)
      let arrived = try await fixture.submit(period(fixture), for: nil)
      #expect(arrived.customerID == token)
      #expect(try await fixture.unclaimed().isEmpty)
      #expect(try fixture.facts(of: token)?.transactions.count == 2)
      #expect(try await fixture.events().map(\.event.change.kind) == [.started])
      #expect(try await fixture.events().map(\.event.customer.customerID) == [token])
      _ = try await fixture.submit(fixture.period(40...70, line: "L2"), for: nil)
      #expect(try await fixture.unclaimed() == ["L2"], "a purchase without a token waits")
      #expect(try await fixture.replayDifferences().isEmpty)
      fixture.catalog.replace(with: Catalog([LedgerFixture.app]))
      #expect(try await fixture.replayDifferences().isEmpty, "the link does not depend on the configuration")
    }
  }

  @Test("An erased customer's purchase is not linked to its token again")
  func erased() async throws {
    try await LedgerFixture.run { fixture in
      useTokensAsCustomers(fixture)
      _ = try await fixture.submit(period(fixture), for: nil)
      _ = try await fixture.ledger.erase(token, fixture.scope)
      _ = try await fixture.submit(period(fixture, days: 70...100), for: nil)
      #expect(try await fixture.unclaimed() == ["L1"])
      #expect(try fixture.facts(of: token) == nil)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("An erased customer's token does not return when a later link is undone")
  func erasedThenUndone() async throws {
    try await LedgerFixture.run { fixture in
      useTokensAsCustomers(fixture)
      _ = try await fixture.submit(period(fixture), for: nil)
      _ = try await fixture.ledger.erase(token, fixture.scope)
      _ = try await fixture.submit(period(fixture, days: 70...100), for: nil)
      let moved = try await fixture.ledger.move("L1", to: "ben", policy: .keep, fixture.scope)
      _ = try await fixture.ledger.undo(moved.transferID, fixture.scope)
      #expect(try await fixture.unclaimed() == ["L1"])
      _ = try await fixture.submit(period(fixture, days: 100...130), for: nil)
      #expect(try await fixture.unclaimed() == ["L1"])
      #expect(try fixture.facts(of: token) == nil)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A link that was undone before the erasure keeps its token until then, in a replay too")
  func undoneThenErased() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture), for: nil)
      let moved = try await fixture.ledger.move("L1", to: "ana", policy: .keep, fixture.scope)
      _ = try await fixture.ledger.undo(moved.transferID, fixture.scope)
      #expect(try await fixture.ledger.registerToken(token, of: "ana", fixture.scope).lines == ["L1"])
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "A purchase finds its customer by the token of any of its documents, in any order of arrival",
    arguments: [true, false], [true, false])
  func laterToken(isTokenFirst: Bool, isCustomer: Bool) async throws {
    try await LedgerFixture.run { fixture in
      if isCustomer { useTokensAsCustomers(fixture) }
      let documents = try [fixture.period(0...30), period(fixture, days: 30...60)]
      for document in isTokenFirst ? documents.reversed() : documents {
        _ = try await fixture.submit(document, for: nil)
      }
      if isCustomer {
        #expect(try fixture.facts(of: token)?.transactions.count == 2)
      } else {
        #expect(try await fixture.ledger.registerToken(token, of: "ana", fixture.scope).lines == ["L1"])
        #expect(try fixture.facts()?.transactions.count == 2)
      }
      #expect(try await fixture.unclaimed().isEmpty)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Of several tokens a purchase waits with the one that Apple signed last", arguments: [true, false])
  func changedToken(isReversed: Bool) async throws {
    try await LedgerFixture.run { fixture in
      let other: JSONObject = ["appAccountToken": "0d3ac1a0-9a63-4b0a-5a10-8f2f9e3a0e0a"]
      let documents = try [fixture.period(0...30, other), period(fixture, days: 30...60)]
      for document in isReversed ? documents.reversed() : documents {
        _ = try await fixture.submit(document, for: nil)
      }
      #expect(try await fixture.ledger.registerToken(token, of: "ana", fixture.scope).lines == ["L1"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Registering a token claims the waiting purchases and those that arrive later, once")
  func registered() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture), for: nil)
      var scope = fixture.scope
      scope.isDryRun = true
      #expect(try await fixture.ledger.registerToken(token, of: "ana", scope).lines == ["L1"])
      #expect(try await fixture.unclaimed() == ["L1"])
      let claimed = try await fixture.ledger.registerToken(token.uppercased(), of: "ana", fixture.scope)
      #expect(claimed.lines == ["L1"])
      #expect(claimed.events.map(\.event.change.kind) == [.claimed])
      #expect(claimed.events.first?.event.actor == "support")
      #expect(try await fixture.ledger.registerToken(token, of: "ana", fixture.scope).evidenceID == nil)
      let later = try await fixture.submit(period(fixture, "L2"), for: nil)
      #expect(later.customerID == "ana")
      await #expect(throws: LedgerError.tokenOfAnotherCustomer) {
        try await fixture.ledger.registerToken(token, of: "ben", fixture.scope)
      }
      await #expect(throws: LedgerError.invalid(field: "app_account_token", problem: "is not a UUID")) {
        try await fixture.ledger.registerToken("token", of: "ben", fixture.scope)
      }
      #expect(try await fixture.replayDifferences().isEmpty)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let bound = try await fixture.store.snapshot { [token] in
        try $0.customerID(ofToken: token, of: "ocean", in: .sandbox)
      }
      #expect(bound == nil)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("The token of a first-time buyer, or of a known customer, is not registered for another one")
  func registeredForAnother() async throws {
    try await LedgerFixture.run { fixture in
      useTokensAsCustomers(fixture)
      _ = try await fixture.submit(period(fixture), for: nil)
      await #expect(throws: LedgerError.tokenOfAnotherCustomer) {
        try await fixture.ledger.registerToken(token, of: "ben", fixture.scope)
      }
      _ = try await fixture.ledger.registerToken(token, of: token, fixture.scope)
      #expect(try await fixture.submit(period(fixture, "L2"), for: nil).customerID == token)
      // The other order: the token has no purchase yet.
      let other = "0d3ac1a0-9a63-4b0a-5a10-8f2f9e3a0e0a"
      _ = try await fixture.ledger.registerToken(other, of: "ben", fixture.scope)
      let bought = try fixture.period(40...70, line: "L3", ["appAccountToken": .string(other)])
      #expect(try await fixture.submit(bought, for: nil).customerID == "ben")
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A token that is the id of a merged customer is that of the merge target", arguments: [true, false])
  func tokenOfMerged(isRegistered: Bool) async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, line: "L0"), for: token)
      _ = try await fixture.ledger.merge(token, into: "ana", fixture.scope)
      if isRegistered { _ = try await fixture.ledger.registerToken(token, of: "ana", fixture.scope) }
      #expect(try await fixture.submit(period(fixture), for: nil).customerID == "ana")
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      let conflicts = try await fixture.store.snapshot {
        try $0.tokenConflicts(of: ana, in: LedgerFixture.app)
      }
      #expect(conflicts.isEmpty)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A claim with the token of another customer is flagged", arguments: [true, false])
  func conflict(isLink: Bool) async throws {
    try await LedgerFixture.run { fixture in
      let effects = Mutex<[LedgerEffect]>([])
      let ledger = fixture.makeLedger(fixture.store) { new in effects.withLock { $0 += new } }
      _ = try await ledger.registerToken(token, of: "ana", fixture.scope)
      if isLink {
        _ = try await fixture.submit(period(fixture))
        _ = try await ledger.move("L1", from: "ana", to: "ben", policy: .transfer, fixture.scope)
      } else {
        _ = try await ledger.submit(
          Submission(appID: "ocean", customerID: "ben", signedTransaction: period(fixture)))
      }
      let event = try #require(try await fixture.events().last?.event)
      #expect(event.customer.customerID == "ben")
      #expect(event.counterparty == Counterparty(role: .tokenOwner, customerID: "ana"))
      let ben = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ben")
      let conflicts = try await fixture.store.snapshot {
        try $0.tokenConflicts(of: ben, in: LedgerFixture.app)
      }
      #expect(conflicts.map(\.tokenOwner) == ["ana"] && conflicts.map(\.line.lineID) == ["L1"])
      let recorded = effects.withLock { $0 }.compactMap { effect -> TokenConflict? in
        if case .tokenConflict(let conflict) = effect { conflict } else { nil }
      }
      #expect(recorded.map(\.claimant) == ["ben"])
      #expect(recorded.map(\.actor) == [isLink ? "support" : ""])
    }
  }
}
