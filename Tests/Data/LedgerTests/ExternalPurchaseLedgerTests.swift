import AppStore
import Entitlements
import Ledger
import Store
import TestSupport
import Testing

/// Purchases in other stores: revisions, owners, merges, erasure and replay.
@Suite struct ExternalPurchaseLedgerTests {
  private func report(
    _ fixture: LedgerFixture, _ revision: Int64, _ since: Int64? = 40, until: Int64?, refunded: Int64? = nil,
    of customer: String = "ana", id: String = "GPA.1", note: String = ""
  ) async throws -> CommandResult {
    var scope = fixture.scope
    scope.note = note
    return try await fixture.ledger.grant(
      "pro", .full, since: since.map { at($0) }, until: until.map { at($0) }, to: customer,
      as: ExternalState(
        source: "play", externalID: id, productID: "gold", revision: revision,
        refundedAt: refunded.map { at($0) }), scope)
  }

  private func status(_ fixture: LedgerFixture, of customer: String = "ana") throws -> EntitlementStatus {
    evaluate(
      try fixture.facts(of: customer) ?? CustomerFacts(), entitlement: "pro", in: LedgerFixture.app,
      at: fixture.clock.now)
  }

  @Test("A purchase starts, renews, ends and is refunded, each as a separate event")
  func life() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, until: 60)
      let renewed = try await report(fixture, 2, nil, until: 90)
      #expect(renewed.grant?.since == at(40) && renewed.grant?.until == at(90))
      _ = try await report(fixture, 3, nil, until: 90, refunded: 45)
      #expect(try status(fixture).reason == .externalRefunded)
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .renewed, .refunded])
      #expect(try fixture.facts()?.grants.count == 1)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "A refund is one event, also of a purchase that was unknown or ended, and while another one grants access"
  )
  func refundsWithoutEnd() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, until: 90, refunded: 45, id: "unknown")
      _ = try await report(fixture, 1, 30, until: 40, id: "ended")
      _ = try await report(fixture, 2, nil, until: 40, refunded: 45, id: "ended")
      #expect(try await fixture.events().map(\.event.change.kind) == [.refunded, .refunded])
      _ = try await report(fixture, 1, until: nil, id: "forever")
      _ = try await report(fixture, 1, until: 90, id: "other")
      _ = try await report(fixture, 2, nil, until: 90, refunded: 45, id: "other")
      #expect(try await fixture.events().dropFirst(2).map(\.event.change.kind) == [.started, .refunded])
      let change = try #require(try await fixture.events().last).event.change
      #expect(change.entitlement == "pro" && change.effectiveAt == at(45))
      #expect(change.before.isEntitled && change.after.isEntitled)
    }
  }

  @Test("A refund from before the first report is one event, whatever is reported about other purchases")
  func refundBeforeFirstReport() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, nil, until: 90, refunded: 45, id: "a")
      _ = try await report(fixture, 1, until: 90, id: "b")
      _ = try await report(fixture, 2, nil, until: 99, id: "b")
      #expect(try await fixture.events().map(\.event.change.kind) == [.refunded, .started, .renewed])
    }
  }

  @Test("A refund in the future is an event when it is reported, and the end of access when it becomes true")
  func futureRefund() async throws {
    try await LedgerFixture.run { fixture in
      let now = fixture.clock.now
      _ = try await report(fixture, 1, until: 90)
      _ = try await report(fixture, 2, nil, until: 90, refunded: 60)
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .refunded])
      #expect(try await fixture.events().last?.event.change.effectiveAt == now)
      fixture.clock.set(at(61))
      try await fixture.ledger.advance(to: at(61))
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .refunded, .ended])
    }
  }

  @Test("A reversal of a refund is an event; a later purchase under the same id begins access")
  func reversedRefund() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, until: 90)
      _ = try await report(fixture, 2, nil, until: 90, refunded: 45)
      _ = try await report(fixture, 3, nil, until: 90)
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .refunded, .refundReversed])
      _ = try await report(fixture, 4, nil, until: 90, refunded: 45)
      _ = try await report(fixture, 5, 46, until: 90)
      #expect(try await fixture.events().dropFirst(3).map(\.event.change.kind) == [.refunded, .started])
      _ = try await report(fixture, 6, nil, until: 90, refunded: 47)
      #expect(try await fixture.events().last?.event.change.kind == .refunded)
    }
  }

  @Test("A renewal after the end begins when it is reported, unless it states when it began")
  func renewedAfterEnd() async throws {
    try await LedgerFixture.run { fixture in
      let now = fixture.clock.now
      func answer(on day: Int64) throws -> EntitlementStatus {
        let facts = try #require(try fixture.facts())
        return evaluate(facts, entitlement: "pro", in: LedgerFixture.app, at: at(day))
      }
      _ = try await report(fixture, 1, 20, until: 30)
      let renewed = try await report(fixture, 2, nil, until: 90)
      #expect(renewed.grant?.since == now && renewed.grant?.until == at(90))
      #expect(try answer(on: 25).isEntitled && answer(on: 40).reason == .externalEnded)
      #expect(try status(fixture).since == now)
      let change = try #require(try await fixture.events().last).event.change
      #expect(change.kind == .started && change.effectiveAt == now && change.after.since == now)
      #expect(try await report(fixture, 2, nil, until: 90).evidenceID == nil, "it is a repetition")
      #expect(try await report(fixture, 3, nil, until: 99).grant?.since == now, "access had not ended")
      _ = try await report(fixture, 4, 20, until: 99)
      #expect(try answer(on: 40).isEntitled && status(fixture).since == at(20))
      #expect(try await report(fixture, 5, nil, until: 45).grant?.since == at(20), "it ends access")
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A late revision is stored and reported, and does not change the answer")
  func late() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 5, until: 90)
      let late = try await report(fixture, 4, until: 45, of: "ben")
      #expect(late.isSuperseded && late.grant?.external?.revision == 5 && late.evidenceID != nil)
      #expect(try status(fixture).until == at(90))
      #expect(try fixture.facts(of: "ben") == nil)
      let again = try await report(fixture, 4, until: 45, of: "ben")
      #expect(again.isSuperseded && again.evidenceID == nil)
      #expect(try await fixture.events().map(\.event.change.kind) == [.started, .olderRevisionReceived])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A repeated revision changes nothing, and another state of it is rejected")
  func repeated() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, until: 60)
      let again = try await report(fixture, 1, until: 60, note: "repeated")
      #expect(again.evidenceID == nil && again.grant != nil && !again.isSuperseded)
      await #expect(
        throws: LedgerError.revisionConflict(source: "play", externalID: "GPA.1", revision: 1)
      ) { try await report(fixture, 1, until: 61) }
      await #expect(throws: LedgerError.self) { try await report(fixture, 1, until: 60, of: "ben") }
    }
  }

  @Test("A newer revision moves the purchase to its customer, and a merge takes it along")
  func owners() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, until: 60, of: "phone")
      _ = try await fixture.ledger.merge("phone", into: "ana", fixture.scope)
      #expect(try status(fixture).isEntitled)
      _ = try await report(fixture, 2, until: 90, of: "phone")
      #expect(try status(fixture).until == at(90))
      _ = try await report(fixture, 3, until: 90, of: "ben")
      #expect(try !status(fixture).isEntitled)
      #expect(try status(fixture, of: "ben").isEntitled)
      let events = try await fixture.events().map(\.event).filter { $0.customer.customerID == "ben" }
      #expect(events.map(\.change.kind) == [.transferred])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A revision that refunds or restores a purchase and moves it is an event of the former owner, too")
  func refundedAndMoved() async throws {
    try await LedgerFixture.run { fixture in
      func events() async throws -> [String] {
        try await fixture.events().map { "\($0.event.customer.customerID) \($0.event.change.kind.rawValue)" }
      }
      _ = try await report(fixture, 1, until: 90)
      let moved = try await report(fixture, 2, nil, until: 90, refunded: 45, of: "ben")
      #expect(moved.events.map(\.event.change.kind) == [.refunded, .transferred, .transferred])
      _ = try await report(fixture, 3, nil, until: 90)
      #expect(
        try await events() == [
          "ana STARTED", "ana REFUNDED", "ana TRANSFERRED", "ben TRANSFERRED", "ben REFUND_REVERSED",
          "ben TRANSFERRED", "ana TRANSFERRED",
        ])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("An operator cannot revoke a purchase in another store")
  func revoked() async throws {
    try await LedgerFixture.run { fixture in
      let id = try #require(try await report(fixture, 1, until: 60).grant?.grantID)
      await #expect(throws: LedgerError.externalGrant(id)) {
        try await fixture.ledger.revokeGrant(id, fixture.scope)
      }
    }
  }

  @Test("Erasing the customer removes the purchase and its id, and replay agrees")
  func erased() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, until: 60, of: "ana.secret", id: "order-secret", note: "secret")
      _ = try await report(fixture, 2, until: 90, of: "ana.secret", id: "order-secret")
      _ = try await fixture.ledger.erase("ana.secret", fixture.scope)
      #expect(try fixture.facts(of: "ana.secret") == nil)
      for evidence in try await fixture.evidence() {
        #expect(!String(decoding: evidence.content.body ?? [], as: UTF8.self).contains("secret"))
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Erasing a former owner keeps the purchase and its id for the present one, and replay agrees")
  func erasedFormerOwner() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await report(fixture, 1, until: 60, of: "ana.secret", note: "secret")
      _ = try await report(fixture, 2, 50, until: 90, of: "ben")
      _ = try await report(fixture, 3, 60, until: 90, of: "ben", note: "kept")
      _ = try await fixture.ledger.erase("ana.secret", fixture.scope)
      let grant = try #require(try fixture.facts(of: "ben")?.grants.first)
      #expect(grant.states.map(\.note) == ["kept", "", ""])
      #expect(try await fixture.replayDifferences().isEmpty)
      let next = try await report(fixture, 4, 70, until: 99, of: "ben").grant
      #expect(next?.grantID == grant.grantID && next?.external?.externalID == "GPA.1")
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("The state does not depend on the order of arrival")
  func order() async throws {
    var hashes: Set<String> = []
    for revisions in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] as [[Int64]] {
      try await LedgerFixture.run { fixture in
        for revision in revisions {
          _ = try await report(fixture, revision, 10 * revision, until: 10 * revision + 40)
        }
        let hash = try fixture.store.stateHash()
        hashes.insert(hash.description)
      }
    }
    #expect(hashes.count == 1)
  }
}
