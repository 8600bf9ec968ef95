import AppStore
import Entitlements
import JSON
import Ledger
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
      func sources(_ facts: CustomerFacts) async throws -> [EvidenceID?] {
        try await fixture.store.snapshot { [ana] reader throws in
          var sources = FactProvenance(of: ana, in: reader)
          return try Explanation(facts, entitlement: "pro", in: LedgerFixture.app, at: at(50)).steps.map {
            step in
            try step.fact.flatMap { try sources.evidence(stating: $0) }
          }
        }
      }
      let before = try #require(try fixture.facts())
      let renewal = EvidenceID(rawValue: bought.evidenceID.rawValue + 1)
      #expect(try await sources(before) == [bought.evidenceID, grant.evidenceID, renewal, nil])
      let refund = try await fixture.submit(fixture.period(40...70, signed: 45, revoked(45)))
      let revoked = try await fixture.ledger.revokeGrant(try #require(grant.grant?.grantID), fixture.scope)
      let after = try #require(try fixture.facts())
      #expect(
        Set(try await sources(after).compactMap(\.self)).isSuperset(of: [
          refund.evidenceID, revoked.evidenceID ?? renewal,
        ]))
      #expect(try await sources(before) == [bought.evidenceID, grant.evidenceID, renewal, nil])
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
      let last = try #require(try await fixture.events().last?.event)
      #expect(try await fixture.events().filter { $0.event.change.kind == .refunded }.count == 1)
      #expect(last.change.kind == .refunded && last.change.effectiveAt == at(48))
      #expect(last.change.before == last.change.after && last.change.after.isEntitled)
      #expect(last.evidenceID == refunded.evidenceID)
      _ = try await fixture.submit(fixture.period(10...40, signed: 50))
      #expect(try await fixture.events().last?.event.change.kind == .refundReversed)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A contradiction is counted once, when it is stored")
  func counted() async throws {
    func count() -> Int64 {
      TestMetrics.ofProcess.counterTotal(
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

  private func revoked(_ day: Int64) -> JSONObject {
    ["revocationDate": .number(JSONNumber(at(day).millisecondsSince1970))]
  }
}

@Suite struct EvidenceLookupTests {
  @Test("A stored answer names the evidence that first stated its deciding fact")
  func kept() async throws {
    try await LedgerFixture.run { fixture in
      let bought = try await fixture.submit(try fixture.period(40...70)).evidenceID
      #expect(try fixture.evidenceBehindAnswer(on: 60) == bought)
      #expect(try fixture.evidenceBehindAnswer(on: 80) == bought)

      let renewed = try await fixture.submit(try fixture.period(70...100)).evidenceID
      #expect(try fixture.evidenceBehindAnswer(on: 60) == bought)
      #expect(try fixture.evidenceBehindAnswer(on: 80) == renewed)

      _ = try await fixture.submit(
        try fixture.period(70...100), renewal: try fixture.renewal(signed: 71))
      #expect(try fixture.evidenceBehindAnswer(on: 80) == renewed)
    }
  }

  @Test("An answer after a refund names the document of the refund")
  func refunded() async throws {
    try await LedgerFixture.run { fixture in
      let bought = try await fixture.submit(try fixture.period(40...70)).evidenceID
      let refund = try fixture.period(
        40...70, signed: 49, ["revocationDate": .number(JSONNumber(at(49).millisecondsSince1970))])
      let refunded = try await fixture.submit(refund).evidenceID
      #expect(refunded != bought)
      #expect(try fixture.evidenceBehindAnswer(on: 60) == refunded)
    }
  }

  @Test("A granted answer names the grant; an answer without facts names nothing")
  func grants() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.ledger.grant(
        "pro", .full, since: nil, until: at(60), to: "ana", fixture.scope)
      let command = try #require(
        try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 1) }.first)
      #expect(try fixture.evidenceBehindAnswer(on: 55) == command.id)
      #expect(try fixture.evidenceBehindAnswer(on: 65) == command.id)
      _ = try await fixture.submit(try fixture.period(70...100), for: "ben")
      #expect(try fixture.evidenceBehindAnswer(of: "ben", on: 60) == nil)
    }
  }

  @Test("Replay names the same evidence")
  func replayed() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(
        try fixture.period(40...70), renewal: try fixture.renewal(signed: 41))
      _ = try await fixture.submit(try fixture.period(70...100))
      let before = try [60, 80].map { try fixture.evidenceBehindAnswer(on: $0) }
      #expect(!before.contains(nil))
      try await fixture.withReplay { replay in
        let answers = try [Int64(60), 80].map { day in
          try replay.makeCheckReader().answer(
            to: "pro", of: CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana"),
            under: LedgerFixture.app.fingerprint, at: at(day))
        }
        #expect(answers.map(\.evidenceID) == before)
      }
    }
  }
}

extension LedgerFixture {
  fileprivate func evidenceBehindAnswer(of customerID: String = "ana", on day: Int64) throws -> EvidenceID? {
    try answer(of: customerID, on: day).evidenceID
  }
}

extension AnswerLookup {
  fileprivate var evidenceID: EvidenceID? {
    if case .precomputed(let kept) = self { kept.evidenceID } else { nil }
  }
}
