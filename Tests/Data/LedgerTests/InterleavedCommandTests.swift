import Ledger
import Store
import Synchronization
import TestSupport
import Testing

/// Commands that another one overtakes, after they began and before their write.
@Suite struct InterleavedCommandTests {
  @Test("An undo that a later transfer overtakes is a conflict and changes nothing")
  func undo() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let moved = try await fixture.ledger.move(
        "L1", from: "ana", to: "ben", policy: .transfer, fixture.scope)
      let store = OvertakenStore(fixture.store) {
        _ = try await fixture.ledger.move("L1", from: "ben", to: "cat", policy: .transfer, fixture.scope)
      }
      await #expect(throws: LedgerError.transferConflict(transfer: moved.transferID)) {
        try await fixture.makeLedger(store, recordEffects: { _ in }).undo(moved.transferID, fixture.scope)
      }
      #expect(try fixture.facts(of: "cat")?.transactions.count == 1)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A revocation that the erasure of the customer overtakes finds no grant")
  func revoke() async throws {
    try await LedgerFixture.run { fixture in
      let grant = try #require(try await fixture.ledger.grant("pro", to: "ana", fixture.scope).grant)
      let store = OvertakenStore(fixture.store) {
        _ = try await fixture.ledger.erase("ana", fixture.scope)
      }
      await #expect(throws: LedgerError.unknownGrant(grant.grantID)) {
        try await fixture.makeLedger(store, recordEffects: { _ in }).revokeGrant(grant.grantID, fixture.scope)
      }
    }
  }
}

/// A store that runs `command` before its first write.
final class OvertakenStore: StoreWrapper {
  let store: any EntitlementStore
  private let command: Mutex<(@Sendable () async throws -> Void)?>

  init(_ store: any EntitlementStore, _ command: @escaping @Sendable () async throws -> Void) {
    self.store = store
    self.command = Mutex(command)
  }

  func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    let command = command.withLock { command in
      defer { command = nil }
      return command
    }
    do { try await command?() } catch { throw .failed("\(error)") }
    return try await store.write(body)
  }
}
