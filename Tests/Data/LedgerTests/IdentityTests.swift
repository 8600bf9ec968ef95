import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Identity: links and claims of purchases.
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
      if policy == .transfer {
        #expect(try await events(fixture) == ["ana STARTED", "ana TRANSFERRED", "ben TRANSFERRED"])
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  private func events(_ fixture: LedgerFixture) async throws -> [String] {
    try await fixture.events().map { "\($0.event.customer.customerID) \($0.event.change.kind.rawValue)" }
  }

  @Test(
    "The refund in a document that transfers the purchase is one event, before or after Apple's notification",
    arguments: [true, false], ["Auto-Renewable Subscription", "Consumable"])
  func refundedTransfer(isNotifiedFirst: Bool, type: String) async throws {
    try await LedgerFixture.run { fixture in
      fixture.catalog.replace(with: Catalog([LedgerFixture.oceanApp(.transfer)]))
      var payload: JSONObject = ["type": .string(type)]
      if type == "Consumable" {
        payload["productId"] = "coins"
        payload["expiresDate"] = .null
      }
      _ = try await fixture.submit(fixture.period(40...70, payload))
      payload["revocationDate"] = .number(JSONNumber(at(48).millisecondsSince1970))
      payload["revocationReason"] = 0
      let refunded = try fixture.period(40...70, signed: 48, payload)
      if isNotifiedFirst { try await fixture.notify("REFUND", signed: 48, refunded) }
      _ = try await fixture.submit(refunded, for: "ben")
      if !isNotifiedFirst { try await fixture.notify("REFUND", signed: 48, refunded) }
      let told = try await events(fixture)
      #expect(told.filter { $0.hasSuffix(" REFUNDED") } == ["ana REFUNDED"])
      let moved = type == "Consumable" ? [] : ["ana TRANSFERRED", "ben TRANSFERRED"]
      #expect(told.filter { $0.hasSuffix(" TRANSFERRED") } == moved)
      #expect(try await fixture.replayDifferences().isEmpty)
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
}
