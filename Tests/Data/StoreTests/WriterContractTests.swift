import AppStore
import Entitlements
import Store
import Synchronization
import TestSupport
import Testing

/// Contract tests of what replicas need of a store: the order of commits, and one writer at a time.
@Suite struct WriterContractTests {
  @Test("Readers see commits in their order, and each write before it returns", arguments: Backend.allCases)
  func order(backend: Backend) async throws {
    try await backend.withStore { store in
      let acknowledged = LastSequence()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            for number in 0..<10 {
              let customer = CustomerKey(
                appID: "ocean", environment: .sandbox, customerID: "\(writer)-\(number)")
              let appended = try await store.write { transaction throws(StoreError) in
                try transaction.append(event(of: customer))
              }
              acknowledged.raise(to: appended.sequence)
            }
          }
        }
        group.addTask {
          var last: Int64 = 0
          while last < 40 {
            let before = acknowledged.value
            let seen = try await store.snapshot { try $0.events(ofApp: "ocean", after: 0, limit: 100) }
            #expect(seen.map(\.sequence) == Array(1..<(Int64(seen.count) + 1)))
            #expect(Int64(seen.count) >= max(before, last))
            last = Int64(seen.count)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test(
    "Of two processes with one store at most one writes, and both see what it wrote",
    arguments: Backend.allCases)
  func oneWriter(backend: Backend) async throws {
    try await backend.withPlace { open in
      let first = try open()
      _ = try await first.append(evidence("a"))
      let second: any EntitlementStore
      do throws(StoreError) {
        second = try open()
      } catch {
        // The engine locks its files.
        guard case .inUse = error else { throw error }
        return await first.close()
      }
      _ = try await second.append(evidence("b"))
      await #expect(throws: StoreError.anotherWriter) { try await first.append(evidence("c")) }
      #expect(try await first.snapshot { try $0.counts().evidence } == 2)
      #expect(try await second.append(evidence("a")).isDuplicate)
      await first.close()
      await second.close()
    }
  }

  @Test(
    "A write that is repeated after a takeover counts once, and positions go on", arguments: Backend.allCases)
  func takeover(backend: Backend) async throws {
    try await backend.withPlace { open in
      // The first process ends with its store.
      func firstProcess() async throws -> (AppendedEvidence, StorePosition) {
        let first = try open()
        let stored = try await first.append(evidence("a"))
        let position = try await first.snapshot { try $0.position(of: "ocean") }
        await first.close()
        return (stored, position)
      }
      let (stored, position) = try await firstProcess()
      let second = try open()
      let repeated = try await second.append(evidence("a"))
      #expect(repeated.isDuplicate && repeated.id == stored.id)
      #expect(await second.feed.waitFor(position, atMost: .seconds(60)) == .reached)
      await second.close()
    }
  }
}

/// The last sequence that a write returned.
private final class LastSequence: Sendable {
  private let sequence = Mutex<Int64>(0)
  var value: Int64 { sequence.withLock { $0 } }
  func raise(to value: Int64) { sequence.withLock { $0 = max($0, value) } }
}
