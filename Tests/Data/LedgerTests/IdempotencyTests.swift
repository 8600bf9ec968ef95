import AppStore
import Entitlements
import Ledger
import Store
import TestSupport
import Testing

/// Commands with idempotency keys.
@Suite struct IdempotencyTests {
  /// The scope of a command with a key. The response has the grant's id.
  private func scope(
    _ fixture: LedgerFixture, key: String = "k", of caller: String = "billing",
    _ request: String = "grant ana",
    naming customers: [String] = ["ana"]
  ) -> CommandScope {
    var scope = fixture.scope
    let request = fixture.ledger.idempotentRequest(
      key: key, of: caller, Array(request.utf8), naming: customers)
    scope.idempotency = IdempotentCommand(request) { Array(($0.grant?.grantID ?? "none").utf8) }
    return scope
  }

  private func grants(_ fixture: LedgerFixture, of customer: String = "ana") throws -> Int {
    try fixture.facts(of: customer)?.grants.count ?? 0
  }

  @Test("A repeated command returns the stored response and changes nothing")
  func repeated() async throws {
    try await LedgerFixture.run { fixture in
      let first = try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      #expect(!first.isRepeated && first.response == first.grant.map { Array($0.grantID.utf8) })
      let again = try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      #expect(again.isRepeated && again.response == first.response && again.evidenceID == nil)
      #expect(try grants(fixture) == 1)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A key of another request is rejected, also in a dry run, and changes nothing")
  func reused() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      for isDryRun in [false, true] {
        var other = scope(fixture, "grant ben")
        other.isDryRun = isDryRun
        await #expect(throws: LedgerError.idempotencyKeyReused) {
          try await fixture.ledger.grant("pro", to: "ben", other)
        }
      }
      #expect(try grants(fixture, of: "ben") == 0)
    }
  }

  @Test("Equal keys of two callers are different keys")
  func callers() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      let other = try await fixture.ledger.grant("pro", to: "ana", scope(fixture, of: "support"))
      #expect(!other.isRepeated)
      #expect(try grants(fixture) == 2)
    }
  }

  @Test("A key is free again after 30 days, and its record is deleted")
  func expiry() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      let start = fixture.clock.now
      fixture.clock.set(start.advanced(byMilliseconds: IdempotentRequest.lifetime - 1))
      #expect(try await fixture.ledger.grant("pro", to: "ana", scope(fixture)).isRepeated)
      fixture.clock.set(start.advanced(byMilliseconds: IdempotentRequest.lifetime))
      #expect(try await !fixture.ledger.grant("pro", to: "ben", scope(fixture, "grant ben")).isRepeated)
      let worker = PurgeWorker(
        [], store: fixture.store,
        clocks: ServiceClocks(
          ServiceClock(now: { start.advanced(byMilliseconds: 3 * IdempotentRequest.lifetime) })))
      try await worker.purgeResponses()
      let key = fixture.ledger.idempotentRequest(key: "k", of: "billing", [], naming: [])
      #expect(try await fixture.store.snapshot { try $0.idempotencyRecord(key.keyHash) } == nil)
    }
  }

  @Test("Dry runs and failed commands leave no record")
  func notStored() async throws {
    try await LedgerFixture.run { fixture in
      var dryRun = scope(fixture)
      dryRun.isDryRun = true
      let counted = try await fixture.ledger.grant("pro", to: "ana", dryRun)
      #expect(counted.response != nil)
      await #expect(throws: LedgerError.self) {
        try await fixture.ledger.move("L9", to: "ana", policy: .keep, scope(fixture))
      }
      let granted = try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      #expect(!granted.isRepeated)
    }
  }

  @Test("Concurrent commands with one key are executed once")
  func concurrent() async throws {
    try await LedgerFixture.run { fixture in
      let repeated = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<20 {
          group.addTask { try await fixture.ledger.grant("pro", to: "ana", scope(fixture)).isRepeated }
        }
        return try await group.reduce(into: 0) { count, isRepeated in count += isRepeated ? 1 : 0 }
      }
      #expect(repeated == 19)
      #expect(try grants(fixture) == 1)
    }
  }

  @Test("After an erasure a repeated command does not run again")
  func erased() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      await #expect(throws: LedgerError.responseErased) {
        try await fixture.ledger.grant("pro", to: "ana", scope(fixture))
      }
      #expect(try fixture.facts(of: "ana") == nil)
    }
  }

  @Test("A request whose result at Apple is unknown runs again, and its key is free after a rejection")
  func pending() async throws {
    try await LedgerFixture.run { fixture in
      let ledger = fixture.ledger
      let request = ledger.idempotentRequest(key: "k", of: "billing", [1], naming: [])
      let other = ledger.idempotentRequest(key: "k", of: "billing", [2], naming: [])
      #expect(try await !ledger.hasUnknownResult(request))
      #expect(try await ledger.begin(request, fixture.scope) == nil)
      #expect(try await ledger.hasUnknownResult(request))
      #expect(try await !ledger.hasUnknownResult(other))
      #expect(try await ledger.storedResponse(to: request) == nil)
      #expect(try await ledger.begin(request, fixture.scope) == nil)
      await #expect(throws: LedgerError.idempotencyKeyReused) { try await ledger.storedResponse(to: other) }
      try await ledger.discard(request)
      #expect(try await !ledger.hasUnknownResult(request))
      #expect(try await ledger.begin(other, fixture.scope) == nil)
    }
  }

  @Test("The note of an erasure names the pseudonym instead of the customer")
  func erasureNote() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.ledger.grant("pro", to: "ana.secret", fixture.scope)
      var scope = fixture.scope
      scope.note = "request of ana.secret, ticket 7"
      let erased = try await fixture.ledger.erase("ana.secret", scope)
      let pseudonym = try #require(erased.erasures.first?.pseudonym)
      let bodies = try await fixture.evidence().map {
        String(decoding: $0.content.body ?? [], as: UTF8.self)
      }
      #expect(bodies.contains { $0.contains("request of \(pseudonym), ticket 7") })
      #expect(!bodies.contains { $0.contains("ana.secret") })
    }
  }
}
