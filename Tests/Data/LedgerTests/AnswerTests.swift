import AppStore
import Entitlements
import Ledger
import Store
import TestSupport
import Testing

@Suite("Batches of submissions")
struct AnswerTests {
  private func submission(_ jws: String, renewal: String? = nil, for customer: String? = nil) -> Submission {
    Submission(
      appID: "ocean", customerID: customer, signedTransaction: jws, signedRenewalInfo: renewal,
      source: .appStoreServerAPI)
  }

  @Test("Repetitions of a renewal info leave Check its precomputed answer")
  func repetitions() async throws {
    try await LedgerFixture.run { fixture in
      func status() throws -> EntitlementStatus? {
        guard case .precomputed(let answer) = try fixture.answer(on: 66) else { return nil }
        return answer.status
      }
      let period = try fixture.period(40...70)
      _ = try await fixture.submit(period, renewal: fixture.renewal(signed: 50))
      let before = try #require(try status())
      for day in Int64(51)...65 {
        fixture.clock.set(at(day))
        _ = try await fixture.submit(period, renewal: fixture.renewal(signed: day))
      }
      #expect(try status() == before)
      #expect(try fixture.facts()?.renewalHistories.first?.contents.count == 1)
    }
  }

  /// Apple's response about two lines, the first of which is renewed twice.
  private func answer(_ fixture: LedgerFixture) throws -> [Submission] {
    [
      submission(try fixture.period(0...30, signed: 80)), submission(try fixture.period(30...60, signed: 80)),
      submission(try fixture.period(60...90, signed: 80), renewal: try fixture.renewal(signed: 80)),
      submission(try fixture.period(10...40, line: "L2", signed: 80)),
    ]
  }

  @Test("A batch has the same result as single submissions, in one commit")
  func together() async throws {
    try await LedgerFixture.run { fixture in
      for line in ["L1", "L2"] { _ = try await fixture.submit(fixture.period(0...30, line: line)) }
      let (answer, events) = (try answer(fixture), try await fixture.events().count)
      let taken = try await fixture.ledger.submitBatch(answer).map { try $0.get() }
      #expect(taken.map(\.isDuplicate) == [false, false, false, false])
      #expect(taken.map(\.customerID) == ["ana", "ana", "ana", "ana"])
      #expect(taken.map { $0.transaction?.transactionId } == ["L1-0", "L1-30", "L1-60", "L2-10"])
      #expect(try await fixture.evidence().count == 7)
      #expect(try await fixture.events().count == events + 1, "one event for a renewal")
      #expect(try await fixture.replayDifferences() == [])

      try await LedgerFixture.run { other in
        for line in ["L1", "L2"] { _ = try await other.submit(other.period(0...30, line: line)) }
        for submission in answer { _ = try await other.ledger.submit(submission) }
        #expect(try other.facts() == fixture.facts())
      }
      #expect(
        try await fixture.ledger.submitBatch(answer).map { try $0.get().isDuplicate } == [
          true, true, true, true,
        ])
    }
  }

  @Test("A forged or foreign document does not affect the others of its batch")
  func refused() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(0...30, line: "L2"), for: "ben")
      let forged = try String(fixture.period(0...30, line: "L3").dropLast(4)) + "AAAA"
      let outcomes = try await fixture.ledger.submitBatch([
        submission(forged, for: "ana"), submission(try fixture.period(0...30), for: "ana"),
        submission(try fixture.period(30...60, line: "L2"), for: "ana"),
      ])
      guard case .failure(.rejected(.notVerified(.badSignature), let evidence)) = outcomes[0] else {
        Issue.record("the forged one gave \(outcomes[0])")
        return
      }
      #expect(
        try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 9) }.contains {
          $0.id == evidence
        })
      #expect(try outcomes[1].get().customerID == "ana")
      guard case .failure(.ownedByAnotherCustomer("L2")) = outcomes[2] else {
        Issue.record("ben's gave \(outcomes[2])")
        return
      }
      #expect(try fixture.facts(of: "ana")?.transactions.map(\.transactionID) == ["L1-0"])
      #expect(try fixture.facts(of: "ben")?.transactions.map(\.transactionID) == ["L2-0", "L2-30"])
    }
  }

  @Test("A batch without a verified document writes only rejected evidence")
  func nothing() async throws {
    try await LedgerFixture.run { fixture in
      #expect(try await fixture.ledger.submitBatch([]).isEmpty)
      let outcomes = try await fixture.ledger.submitBatch([submission("")])
      guard case .failure(.invalid("signed_transaction", _)) = outcomes.first else {
        Issue.record("it gave \(outcomes)")
        return
      }
      #expect(try await fixture.evidence() == [])
    }
  }
}
