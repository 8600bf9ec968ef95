import AppStore
import Ledger
import Store
import Testing

@Suite struct InstallationTests {
  private let start = Instant(millisecondsSince1970: 1_800_000_000_000)

  private func line(_ id: String, in environment: Environment = .sandbox) -> LineKey {
    LineKey(appID: "ocean", environment: environment, lineID: id)
  }

  private func excess(
    _ ledger: EvidenceLedger, _ installation: UInt8, _ lines: [LineKey], days: Int64 = 0
  ) async throws -> [LineKey] {
    try await ledger.count(
      installation: [UInt8](repeating: installation, count: 32), of: lines, limit: 2,
      at: start.advanced(byMilliseconds: days * 86_400_000))
  }

  @Test("An installation over the limit of a purchase is in excess; those of before are not")
  func limit() async throws {
    try await LedgerFixture.run { fixture in
      var results: [[LineKey]] = []
      for (installation, lines) in [
        (1, [line("7")]), (2, [line("7")]), (3, [line("7")]), (1, [line("7")]), (3, [line("7"), line("8")]),
        (3, [line("7", in: .production)]),
      ] as [(UInt8, [LineKey])] {
        results.append(try await excess(fixture.ledger, installation, lines))
      }
      #expect(results == [[], [], [line("7")], [], [line("7")], []])
    }
  }

  @Test("Another ledger on the same store continues the counts")
  func restart() async throws {
    try await LedgerFixture.run { fixture in
      for installation: UInt8 in 1...2 { _ = try await excess(fixture.ledger, installation, [line("7")]) }
      let other = fixture.makeLedger(fixture.store) { _ in }
      let results = [try await excess(other, 3, [line("7")]), try await excess(other, 2, [line("7")])]
      #expect(results == [[line("7")], []])
    }
  }

  @Test("The next day begins with no installations, and deletes those of the day before")
  func days() async throws {
    try await LedgerFixture.run { fixture in
      for installation: UInt8 in 1...3 { _ = try await excess(fixture.ledger, installation, [line("7")]) }
      let next = try await excess(fixture.ledger, 3, [line("7")], days: 1)
      #expect(next.isEmpty)
      let today = start.millisecondsSince1970 / 86_400_000
      let line = line("7")
      let left = try await fixture.store.snapshot { try $0.installations(of: line, on: today) }
      #expect(left.isEmpty)
    }
  }

  @Test("Concurrent first requests count no more installations than the limit")
  func concurrency() async throws {
    try await LedgerFixture.run { fixture in
      let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
        for installation: UInt8 in 1...8 {
          group.addTask { try await !excess(fixture.ledger, installation, [line("7")]).isEmpty }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(refused == 6)
    }
  }

  @Test("Erasing the owner of a purchase deletes its installations")
  func erasure() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let purchase = line("L1")
      _ = try await excess(fixture.ledger, 1, [purchase])
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let today = start.millisecondsSince1970 / 86_400_000
      let left = try await fixture.store.snapshot { try $0.installations(of: purchase, on: today) }
      #expect(left.isEmpty)
    }
  }
}
