import AppStore
import Entitlements
import Ledger
import Store
import TestSupport
import Testing

/// The clock of an embedded sandbox beside the machine's.
@Suite struct ClockTests {
  private func clocks(_ sandbox: TestClock, _ machine: TestClock) -> ServiceClocks {
    ServiceClocks(
      sandbox: ServiceClock(
        now: { sandbox.now }, delay: { _ in nil }, adjustments: { AsyncStream { $0.finish() } },
        domain: .sandbox),
      machine: ServiceClock(now: { machine.now }, domain: .others))
  }

  @Test("Turning the sandbox's clock ends grants in its environment only")
  func expiry() async throws {
    try await LedgerFixture.run { fixture in
      let (sandbox, machine) = (TestClock(at(50)), TestClock(at(50)))
      let clocks = clocks(sandbox, machine)
      let ledger = fixture.makeLedger(clocks: clocks)
      for environment in [AppStore.Environment.sandbox, .production] {
        _ = try await ledger.grant(
          "pro", until: at(60), to: "ana",
          CommandScope(appID: "ocean", environment: environment, actor: "support"))
      }
      sandbox.set(at(90))
      for clock in clocks.all { try await ledger.advance(by: clock) }
      let ended = try await fixture.events().filter { $0.event.change.kind == .ended }
      #expect(ended.map(\.event.customer.environment) == [.sandbox])
      let next = try await fixture.store.snapshot { reader in
        (try reader.nextDue(in: .sandbox), try reader.nextDue(in: .others), try reader.nextDue(in: .all))
      }
      #expect(next == (nil, at(60), at(60)))
    }
  }

  @Test("Evidence of another environment is dated by the machine's clock, after the sandbox's was turned too")
  func dates() async throws {
    try await LedgerFixture.run { fixture in
      let (sandbox, machine) = (TestClock(at(50)), TestClock(at(50)))
      let ledger = fixture.makeLedger(clocks: clocks(sandbox, machine))
      sandbox.set(at(90))
      for environment in [AppStore.Environment.sandbox, .production] {
        _ = try await ledger.grant(
          "pro", to: "ana", CommandScope(appID: "ocean", environment: environment, actor: "support"))
      }
      let stored = try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 9) }
      #expect(stored.map(\.evidence.receivedAt) == [at(90), at(50)])
      #expect(stored.map(\.knownAt) == [at(90), at(50)])
      #expect(try await fixture.events().map(\.event.recordedAt) == [at(90), at(50)])
    }
  }

  @Test("Revoking a grant of another environment uses that environment's time")
  func revocation() async throws {
    try await LedgerFixture.run { fixture in
      let (sandbox, machine) = (TestClock(at(50)), TestClock(at(50)))
      let ledger = fixture.makeLedger(clocks: clocks(sandbox, machine))
      let production = CommandScope(appID: "ocean", environment: .production, actor: "support")
      let grant = try await ledger.grant("pro", to: "ana", production)
      sandbox.set(at(90))
      let revoked = try await ledger.revokeGrant(try #require(grant.grant?.grantID), fixture.scope)
      #expect(revoked.grant?.revokedAt == at(50))
    }
  }

  @Test(
    "Bodies are purged by the clock of their environment, also if the sandbox's is years ahead or behind",
    arguments: [900, 20] as [Int64])
  func purge(sandboxDay: Int64) async throws {
    try await LedgerFixture.run { fixture in
      let (sandbox, machine) = (TestClock(at(sandboxDay)), TestClock(at(50)))
      let clocks = clocks(sandbox, machine)
      let ledger = fixture.makeLedger(clocks: clocks)
      for environment in [AppStore.Environment.sandbox, .production] {
        _ = try await ledger.grant(
          "pro", to: "ana", CommandScope(appID: "ocean", environment: environment, actor: "support"))
      }
      func environmentsWithBodies() async throws -> [AppStore.Environment?] {
        let worker = PurgeWorker(
          [.init(.accepted([.operatorCommand]), days: 10)], store: fixture.store, clocks: clocks,
          sleep: { _ in throw CancellationError() })
        try await worker.run()
        return try await fixture.store.snapshot { try $0.evidence(after: nil, limit: 9) }
          .filter { $0.evidence.content.body != nil }.map(\.evidence.environment)
      }
      #expect(try await environmentsWithBodies() == [.sandbox, .production])
      machine.set(at(61))
      #expect(try await environmentsWithBodies() == [.sandbox])
      sandbox.set(at(sandboxDay + 11))
      #expect(try await environmentsWithBodies() == [])
    }
  }
}
