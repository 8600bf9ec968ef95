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
}
