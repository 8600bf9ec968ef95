import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Withdrawn consents, as records that the operator settles.
@Suite struct ConsentWithdrawalTests {
  private func record(_ fixture: LedgerFixture) async throws -> ConsentWithdrawalRecord? {
    try await fixture.store.snapshot { reader throws in
      try reader.consentWithdrawal("I1", of: "ocean", in: .sandbox)
    }
  }

  @Test("A withdrawal is open until it is settled, and a later one opens it again")
  func settled() async throws {
    try await LedgerFixture.run { fixture in
      let install = ["appTransactionId": JSONValue.string("I1")] as JSONObject
      _ = try await fixture.submit(fixture.period(40...70, install))
      try await fixture.notify("RESCIND_CONSENT", signed: 49, appInstall: "I1")
      let open = try #require(try await record(fixture))
      #expect(!open.isSettled && open.withdrawnAt == at(49) && open.settlementID == nil)
      let first = try await fixture.ledger.settleConsentWithdrawal(of: "I1", fixture.scope)
      let settled = try #require(try await record(fixture))
      // The clock of the fixture is at day 50.
      #expect(settled.isSettled && settled.settlementID == first.evidenceID && settled.settledAt == at(50))
      let second = try await fixture.ledger.settleConsentWithdrawal(of: "I1", fixture.scope)
      #expect(second.evidenceID == nil, "it is settled already")
      #expect(try await record(fixture) == settled)
      try await fixture.notify("RESCIND_CONSENT", signed: 51, appInstall: "I1")
      let again = try #require(try await record(fixture))
      #expect(!again.isSettled && again.withdrawnAt == at(51) && again.evidenceID != open.evidenceID)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A customer who gets a purchase after the withdrawal is affected by it", arguments: [false, true])
  func linkedLater(isStoredBefore: Bool) async throws {
    try await LedgerFixture.run { fixture in
      let period = try fixture.period(40...70, ["appTransactionId": "I1"])
      if isStoredBefore { _ = try await fixture.submit(period, for: nil) }
      try await fixture.notify("RESCIND_CONSENT", signed: 49, appInstall: "I1")
      for _ in 0..<2 { _ = try await fixture.submit(period) }
      #expect(try fixture.facts()?.appTransactions.map(\.consentRescindedAt) == [at(49)])
      let events = try await fixture.events().filter { $0.event.change.kind == .consentRescinded }
      #expect(events.map(\.event.customer.customerID) == ["ana"])
      #expect(events.map(\.event.change.effectiveAt) == [at(49)])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("An app install without a withdrawal cannot be settled")
  func unknown() async throws {
    try await LedgerFixture.run { fixture in
      await #expect(throws: LedgerError.self) {
        _ = try await fixture.ledger.settleConsentWithdrawal(of: "I2", fixture.scope)
      }
    }
  }
}
