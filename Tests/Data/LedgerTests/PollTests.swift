import AppStore
import JSON
import Store
import TestSupport
import Testing

@testable import Ledger

@Suite("Polls that the ledger schedules")
struct PollTests {
  private func next(_ fixture: LedgerFixture) async throws -> Instant? {
    try await fixture.store.snapshot { try $0.nextPoll(of: "ocean", in: .sandbox) }
  }

  private let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")

  @Test("A purchase is polled at its end, claimed or not")
  func scheduled() async throws {
    try await LedgerFixture.run { fixture in
      #expect(try await next(fixture) == nil)
      _ = try await fixture.submit(fixture.period(0...30), for: nil)
      #expect(try await next(fixture) == at(30).advanced(byMilliseconds: -1_800_000))
      _ = try await fixture.submit(fixture.period(30...60))
      #expect(try await next(fixture) == at(60).advanced(byMilliseconds: -1_800_000), "it was renewed")
    }
  }

  @Test("A polled line is polled again later unless it is settled")
  func polled() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(0...30))
      #expect(try await fixture.ledger.stillDue([line], by: at(29)) == [])
      #expect(try await fixture.ledger.stillDue([line], by: at(31)) == [line])
      try await fixture.ledger.recordPolls(of: [line], at: at(31))
      #expect(try await next(fixture) == at(33))
      _ = try await fixture.submit(
        fixture.period(0...30, signed: 32, ["revocationDate": .number(JSONNumber(1_802_600_000_000))]))
      #expect(try await next(fixture) == nil)
    }
  }

  @Test("A failed poll is repeated after a quarter of the time for which it is overdue")
  func postponed() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(0...30))
      let due = at(30).advanced(byMilliseconds: -1_800_000)
      for (overdue, pause) in [(0, 60_000), (3_600_000, 900_000), (800_000_000, 21_600_000)]
        as [(Int64, Int64)]
      {
        let failed = due.advanced(byMilliseconds: overdue)
        try await fixture.ledger.postponePolls(of: [line], at: failed)
        #expect(try await next(fixture) == failed.advanced(byMilliseconds: pause))
        #expect(try await fixture.ledger.stillDue([line], by: failed) == [line])
      }
      // Evidence schedules it again.
      _ = try await fixture.submit(fixture.period(30...60))
      #expect(try await next(fixture) == at(60).advanced(byMilliseconds: -1_800_000))
    }
  }

  @Test("A poll that was recorded by a clock that was ahead settles nothing after the clock is set back")
  func aheadOfTime() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(0...30))
      _ = try await fixture.submit(fixture.period(0...30, line: "L2"))
      try await fixture.ledger.recordPolls(of: [line], at: at(60))
      try await fixture.ledger.recordPolls(of: [line.other("L2")], at: at(20))
      try await fixture.ledger.discardPolls(after: at(20), of: "ocean", in: .sandbox)
      #expect(try await next(fixture) == at(30).advanced(byMilliseconds: -1_800_000))
      let polls = try await fixture.store.write { [line] store throws(StoreError) in
        [try store.lastPoll(of: line), try store.lastPoll(of: line.other("L2"))]
      }
      #expect(polls == [Instant(millisecondsSince1970: 0), at(20)])
    }
  }

  @Test("More polls than one write corrects are discarded")
  func manyAheadOfTime() async throws {
    try await LedgerFixture.run { fixture in
      let lines = (0..<2_001).map { line.other("N\($0)") }
      try await fixture.store.write { store throws(StoreError) in
        for line in lines {
          try store.schedulePoll(of: line, at: at(90))
          try store.recordPoll(of: line, at: at(60))
        }
      }
      try await fixture.ledger.discardPolls(after: at(20), of: "ocean", in: .sandbox)
      // Lines without facts have no poll.
      let left = try await fixture.store.snapshot {
        try $0.pollBacklog(of: "ocean", in: .sandbox, by: at(99))
      }
      #expect(left == 0)
    }
  }

  @Test("Polling a settled line schedules no further poll")
  func settled() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(
        fixture.period(0...30, signed: 32, ["revocationDate": .number(JSONNumber(1_802_600_000_000))]))
      try await fixture.ledger.recordPolls(of: [line], at: at(33))
      #expect(try await next(fixture) == nil)
    }
  }
}
