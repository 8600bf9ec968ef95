import AppStore
import Entitlements
import JSON
import Ledger
import Store
import Synchronization
import TestSupport
import Testing

/// Identity: claims, links, transfers, merges, and their undo.
@Suite struct IdentityTests {
  private let token = "8f2f9e3a-5a10-4b0a-9a63-0d3ac1a0e0aa"

  @Test("A purchase without a customer enters the claim queue until it is linked")
  func linked() async throws {
    try await LedgerFixture.run { fixture in
      let submitted = try await fixture.submit(fixture.period(40...70), for: nil)
      #expect(submitted.customerID == nil)
      #expect(try await fixture.unclaimed() == ["L1"])
      let outcome = try await fixture.ledger.move("L1", to: "ana", policy: .keep, fixture.scope)
      #expect(outcome.events.map(\.event.change.kind) == [.claimed])
      #expect(try await fixture.unclaimed().isEmpty)
      #expect(try fixture.facts()?.transactions.count == 1)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Purchases with one token belong to one customer, whichever came first")
  func sameToken() async throws {
    try await LedgerFixture.run { fixture in
      let tokens = ["appAccountToken": .string(token)] as JSONObject
      _ = try await fixture.submit(fixture.period(0...30, line: "L1", tokens), for: nil)
      #expect(try await fixture.unclaimed() == ["L1"])
      _ = try await fixture.submit(fixture.period(0...30, line: "L2", tokens), for: "ana")
      #expect(try await fixture.unclaimed().isEmpty)
      let later = try await fixture.submit(fixture.period(0...30, line: "L3", tokens), for: nil)
      #expect(later.customerID == "ana")
      #expect(try fixture.facts()?.transactions.map(\.originalTransactionID) == ["L1", "L2", "L3"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A token that equals a customer's id links to that customer, before and after the first purchase")
  func tokenIsCustomer() async throws {
    try await LedgerFixture.run { fixture in
      let tokens = ["appAccountToken": .string(token)] as JSONObject
      let id = token.uppercased()
      _ = try await fixture.submit(fixture.period(0...30, line: "L1", tokens), for: nil)
      _ = try await fixture.submit(fixture.period(0...30, line: "L2"), for: id)
      #expect(try fixture.facts(of: id)?.transactions.map(\.originalTransactionID) == ["L1", "L2"])
      _ = try await fixture.submit(fixture.period(0...30, line: "L3", tokens), for: nil)
      #expect(try fixture.facts(of: id)?.transactions.count == 3)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A purchase that replaced another one has its owners, unless a token or a submission names one")
  func replaced() async throws {
    try await LedgerFixture.run { fixture in
      let replaces = ["previousOriginalTransactionId": "L1"] as JSONObject
      _ = try await fixture.submit(fixture.period(0...60, line: "L1"))
      let migrated = try await fixture.submit(fixture.period(40...70, line: "L2", replaces), for: nil)
      #expect(migrated.customerID == "ana")
      #expect(try fixture.facts()?.transactions.map(\.originalTransactionID) == ["L1", "L2"])
      guard case .precomputed(let answer) = try fixture.answer(on: 65) else {
        Issue.record("no answer")
        return
      }
      #expect(answer.status.isEntitled)
      let withToken =
        ["previousOriginalTransactionId": "L1", "appAccountToken": .string(token)] as JSONObject
      let submitted = try await fixture.submit(fixture.period(40...70, line: "L3", withToken), for: "ben")
      #expect(submitted.customerID == "ben")
      let bought = try await fixture.submit(fixture.period(40...70, line: "L4", withToken), for: nil)
      #expect(bought.customerID == "ben")
      let unknown = ["previousOriginalTransactionId": "L0"] as JSONObject
      let queued = try await fixture.submit(fixture.period(40...70, line: "L5", unknown), for: nil)
      #expect(queued.customerID == nil)
      #expect(try await fixture.unclaimed() == ["L5"])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A new customer gets all unclaimed purchases whose token is the customer's id")
  func severalUnclaimed() async throws {
    try await LedgerFixture.run { fixture in
      let tokens = ["appAccountToken": .string(token)] as JSONObject
      for line in ["L1", "L2", "L3"] {
        _ = try await fixture.submit(fixture.period(0...30, line: line, tokens), for: nil)
      }
      _ = try await fixture.submit(fixture.period(0...30, line: "L4", tokens), for: token)
      let lines = try fixture.facts(of: token)?.transactions.map(\.originalTransactionID)
      #expect(lines == ["L1", "L2", "L3", "L4"])
      #expect(try await fixture.unclaimed().isEmpty)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

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

  @Test(
    "Submitting another customer's purchase follows the app's ownership policy",
    arguments: OwnershipPolicy.allCases)
  func policy(_ policy: OwnershipPolicy) async throws {
    try await LedgerFixture.run { fixture in
      fixture.catalog.replace(with: Catalog([LedgerFixture.oceanApp(policy)]))
      let period = try fixture.period(40...70)
      _ = try await fixture.submit(period)
      do throws(LedgerError) {
        let submitted = try await fixture.submit(period, for: "ben")
        #expect(policy != .keep && submitted.customerID == "ben")
      } catch {
        #expect(policy == .keep && error == .ownedByAnotherCustomer(originalTransactionID: "L1"))
      }
      #expect(try fixture.facts()?.transactions.count == (policy == .transfer ? 0 : 1))
      #expect(try fixture.facts(of: "ben")?.transactions.count == (policy == .keep ? nil : 1))
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

  @Test("An owned purchase stays with its owner unless the request transfers it")
  func policies() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      await #expect(throws: LedgerError.ownedByAnotherCustomer(originalTransactionID: "L1")) {
        try await fixture.ledger.move("L1", to: "ben", policy: .keep, fixture.scope)
      }
      await #expect(throws: LedgerError.notTheOwner(originalTransactionID: "L1")) {
        try await fixture.ledger.move("L1", from: "zoe", to: "ben", policy: .transfer, fixture.scope)
      }
      await #expect(throws: LedgerError.unknownPurchase(originalTransactionID: "L9")) {
        try await fixture.ledger.move("L9", to: "ben", policy: .transfer, fixture.scope)
      }
      let shared = try await fixture.ledger.move("L1", to: "ben", policy: .share, fixture.scope)
      #expect(shared.events.map(\.event.customer.customerID) == ["ben"])
      _ = try await fixture.submit(fixture.period(70...100))
      #expect(try fixture.facts()?.transactions.count == 2)
      #expect(try fixture.facts(of: "ben") == fixture.facts())
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A failed claim is in both timelines once")
  func dispute() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(40...70)
      _ = try await fixture.submit(jws)
      for _ in 0..<2 {
        await #expect(throws: LedgerError.ownedByAnotherCustomer(originalTransactionID: "L1")) {
          try await fixture.submit(jws, for: "ben")
        }
      }
      #expect(
        try await fixture.events().map(\.event.change.kind) == [.started, .claimedByAnother, .claimRefused])
      #expect(try await fixture.events().map(\.event.customer.customerID) == ["ana", "ana", "ben"])
      let (owner, refused) = (try await fixture.events()[1].event, try await fixture.events()[2].event)
      #expect(owner.counterparty == Counterparty(role: .claimant, customerID: "ben"))
      #expect(refused.counterparty == Counterparty(role: .owner, customerID: "ana"))
      #expect(refused.change.subject?.transactionID == "L1-40")
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      #expect(try await fixture.events()[2].event.counterparty?.customerID.hasPrefix("erased-") == true)
    }
  }

  @Test("Submitting an unlinked purchase again claims it")
  func resubmitted() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(40...70)
      _ = try await fixture.submit(jws, for: nil)
      let linked = try await fixture.ledger.move("L1", to: "ana", policy: .keep, fixture.scope)
      _ = try await fixture.submit(jws)
      _ = try await fixture.ledger.undo(linked.transferID, fixture.scope)
      #expect(try await fixture.unclaimed() == ["L1"])
      let again = try await fixture.submit(jws)
      #expect(again.isDuplicate)
      #expect(again.customerID == "ana")
      #expect(try fixture.facts()?.transactions.count == 1)
      #expect(try await fixture.replayDifferences().isEmpty)
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
