import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

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
        "pro", .full, since: nil, until: at(60), to: "ana", key: "", fixture.scope)
      let command = try #require(try fixture.store.makeReader().evidence(after: nil, limit: 1).first)
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
          try replay.makeReader().answer(
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
    if case .told(let kept) = self { kept.evidenceID } else { nil }
  }
}
