import AppStore
import Entitlements
import JSON
import Ledger
import Metrics
import MetricsTestKit
import Store
import TestSupport
import Testing

/// Provenance, refunds and contradictions of facts.
@Suite struct ExplainedFactsTests {
  private let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

  @Test("Each fact names the evidence that stated it first, after a refund and as of an earlier time too")
  func sources() async throws {
    try await LedgerFixture.run { fixture in
      let bought = try await fixture.submit(
        fixture.period(40...70), renewal: fixture.renewal(signed: 41))
      let grant = try await fixture.ledger.grant("pro", to: "ana", fixture.scope)
      let reader = try fixture.store.makeReader()
      func sources(_ facts: CustomerFacts) throws -> [EvidenceID?] {
        var sources = FactProvenance(of: ana, in: reader)
        return try Explanation(facts, entitlement: "pro", in: LedgerFixture.app, at: at(50)).steps.map {
          step in
          try step.fact.flatMap { try sources.evidence(stating: $0) }
        }
      }
      let before = try #require(try fixture.facts())
      let renewal = EvidenceID(rawValue: bought.evidenceID.rawValue + 1)
      #expect(try sources(before) == [bought.evidenceID, grant.evidenceID, renewal, nil])
      reader.endTurn()
      let refund = try await fixture.submit(fixture.period(40...70, signed: 45, revoked(45)))
      let revoked = try await fixture.ledger.revokeGrant(try #require(grant.grant?.grantID), fixture.scope)
      let after = try #require(try fixture.facts())
      #expect(
        Set(try sources(after).compactMap(\.self)).isSuperset(of: [
          refund.evidenceID, revoked.evidenceID ?? renewal,
        ]))
      #expect(try sources(before) == [bought.evidenceID, grant.evidenceID, renewal, nil])
    }
  }

  @Test("The refund of a past period is in the timeline and does not change the answer")
  func refundOfThePast() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(10...40))
      _ = try await fixture.submit(fixture.period(40...70))
      let refund = try fixture.period(10...40, signed: 49, revoked(48))
      let refunded = try await fixture.submit(refund)
      _ = try await fixture.submit(refund)
      let last = try #require(try fixture.events().last?.event)
      #expect(try fixture.events().filter { $0.event.change.kind == .refunded }.count == 1)
      #expect(last.change.kind == .refunded && last.change.effectiveAt == at(48))
      #expect(last.change.before == last.change.after && last.change.after.isEntitled)
      #expect(last.evidenceID == refunded.evidenceID)
      _ = try await fixture.submit(fixture.period(10...40, signed: 50))
      #expect(try fixture.events().last?.event.change.kind == .refundReversed)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A contradiction is counted once, when it is stored")
  func counted() async throws {
    let metrics = Self.metrics
    func count() -> Int64 {
      metrics.counterTotal(
        label: "entitled_contradictions_total", dimensions: [("kind", "TYPE_DIFFERS_FROM_CATALOG")])
    }
    try await LedgerFixture.run { fixture in
      let before = count()
      _ = try await fixture.submit(fixture.period(40...70, ["type": "Non-Consumable"]))
      #expect(count() == before + 1)
      _ = try await fixture.submit(fixture.period(40...70, line: "L2"))
      _ = try fixture.facts()
      #expect(count() == before + 1)
    }
  }

  /// The process has one metrics system; nothing else in the tests counts this kind of contradiction.
  private static let metrics: TestMetrics = {
    let metrics = TestMetrics()
    MetricsSystem.bootstrap(metrics)
    return metrics
  }()

  private func revoked(_ day: Int64) -> JSONObject {
    ["revocationDate": .number(JSONNumber(at(day).millisecondsSince1970))]
  }
}
