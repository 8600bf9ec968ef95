import AppStore
import JSON
import Store
import TestSupport
import Testing

@testable import Ledger

@Suite("Polls that the ledger schedules")
struct PollTests {
  private func next(_ fixture: LedgerFixture) throws -> Instant? {
    try fixture.store.makeReader().nextPoll(of: "ocean", in: .sandbox)
  }

  private let line = LineKey(appID: "ocean", environment: .sandbox, originalTransactionID: "L1")

  @Test("A purchase is polled at its end, claimed or not")
  func scheduled() async throws {
    try await LedgerFixture.run { fixture in
      #expect(try next(fixture) == nil)
      _ = try await fixture.submit(fixture.period(0...30), for: nil)
      #expect(try next(fixture) == at(30).advanced(byMilliseconds: -1_800_000))
      _ = try await fixture.submit(fixture.period(30...60))
      #expect(try next(fixture) == at(60).advanced(byMilliseconds: -1_800_000), "it was renewed")
    }
  }

  @Test("A polled line is polled again later unless it is settled")
  func asked() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(0...30))
      #expect(try await fixture.ledger.stillDue([line], by: at(29)) == [])
      #expect(try await fixture.ledger.stillDue([line], by: at(31)) == [line])
      try await fixture.ledger.recordPolls(of: [line], at: at(31))
      #expect(try next(fixture) == at(33))
      _ = try await fixture.submit(
        fixture.period(0...30, signed: 32, ["revocationDate": .number(JSONNumber(1_802_600_000_000))]))
      #expect(try next(fixture) == nil)
    }
  }

  @Test("Polling a settled line schedules no further poll")
  func settled() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(
        fixture.period(0...30, signed: 32, ["revocationDate": .number(JSONNumber(1_802_600_000_000))]))
      try await fixture.ledger.recordPolls(of: [line], at: at(33))
      #expect(try next(fixture) == nil)
    }
  }
}
