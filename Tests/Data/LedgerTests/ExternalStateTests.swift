import AppStore
import Entitlements
import Ledger
import Store
import TestSupport
import Testing

/// The single states of a purchase in another store: their times and their evidence.
@Suite struct ExternalStateTests {
  @discardableResult private func report(
    _ fixture: LedgerFixture, _ revision: Int64, _ since: Int64?, until: Int64, _ entitlement: String = "pro",
    of customer: String = "ana"
  ) async throws -> CommandResult {
    try await fixture.ledger.grant(
      entitlement, .full, since: since.map { at($0) }, until: at(until), to: customer,
      as: ExternalState(
        source: "play", externalID: "GPA.1", productID: "gold\(revision)", revision: revision, refundedAt: nil
      ),
      fixture.scope)
  }

  @Test("A late revision without a beginning keeps that of the state before it, not of a newer one")
  func lateWithoutSince() async throws {
    try await LedgerFixture.run { fixture in
      try await report(fixture, 1, 20, until: 30)
      try await report(fixture, 3, 45, until: 55)
      try await report(fixture, 2, nil, until: 40)
      let states = try #require(try fixture.facts()?.grants.first).states
      #expect(states.map(\.since) == [at(45), at(20)] && states.map(\.until) == [at(55), at(40)])
      let again = try await report(fixture, 2, nil, until: 40)
      #expect(again.evidenceID == nil && again.isSuperseded)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("The evidence of an answer is the report of the state that decides it, also if a later one is known")
  func evidence() async throws {
    try await LedgerFixture.run { fixture in
      let ended = try await report(fixture, 1, 20, until: 30)
      let next = try await report(fixture, 2, 60, until: 90)
      func evidence(_ customer: CustomerKey) throws -> [EvidenceID?] {
        let reader = try fixture.store.makeCheckReader()
        let now = fixture.clock.now
        let status = evaluate(
          try reader.facts(of: customer) ?? CustomerFacts(), entitlement: "pro", in: LedgerFixture.app,
          at: now)
        let answer = try reader.answer(
          to: "pro", of: customer, under: LedgerFixture.app.fingerprint, at: now)
        guard case .precomputed(let precomputed) = answer else { return [] }
        return [try reader.evidence(deciding: status, of: customer), precomputed.evidenceID]
      }
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      #expect(try evidence(ana) == [ended.evidenceID, ended.evidenceID])
      fixture.clock.set(at(61))
      try await fixture.ledger.advance(to: at(61))
      #expect(try evidence(ana) == [next.evidenceID, next.evidenceID])
      // A write that rests on the stored states.
      try await report(fixture, 3, 95, until: 99)
      fixture.clock.set(at(91))
      try await fixture.ledger.advance(to: at(91))
      #expect(try evidence(ana) == [next.evidenceID, next.evidenceID])
    }
  }
}
