import AppStoreClient
import Store
import Synchronization
import TestSupport
import Testing

@testable import Webhooks

/// A store that refuses reads or writes while a test wants it to, and counts the others.
final class RefusingStore: StoreWrapper {
  private struct State {
    var refusesReads = false
    var refusesWrites = false
    var delay = Duration.zero
    var reads = 0
    var writes = 0
    var refused = 0
  }

  let store: any EntitlementStore
  private let state = Mutex(State())

  init(_ store: any EntitlementStore) { self.store = store }

  func refuse(reads: Bool = false, writes: Bool = false) {
    state.withLock { ($0.refusesReads, $0.refusesWrites) = (reads, writes) }
  }

  /// Makes each read take at least this long.
  func delayReads(by delay: Duration) { state.withLock { $0.delay = delay } }

  /// The number of reads that ended.
  var reads: Int { state.withLock { $0.reads } }
  var writes: Int { state.withLock { $0.writes } }
  var refused: Int { state.withLock { $0.refused } }

  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try refuse { $0.refusesReads }
    try? await Task.sleep(for: state.withLock { $0.delay })
    let value = try await store.read(priority, deadline: deadline, body)
    state.withLock { $0.reads += 1 }
    return value
  }

  func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try refuse { $0.refusesWrites }
    state.withLock { $0.writes += 1 }
    return try await store.write(body)
  }

  private func refuse(_ isRefused: (State) -> Bool) throws(StoreError) {
    let isRefused = state.withLock { state in
      if isRefused(state) { state.refused += 1 }
      return isRefused(state)
    }
    if isRefused { throw .diskFull }
  }
}

/// What a webhook gets while the store fails or is slow.
@Suite struct WebhookStoreFailureTests {
  @Test("No message is sent again while the store refuses writes, and its outcome is stored afterwards")
  func refusedWrites() async throws {
    try await Stage.run(concurrency: 2) { stage in
      let store = RefusingStore(stage.store)
      let worker = stage.restarted(over: store)
      stage.receiver.answers { .success(.status($0.sequence == 2 ? 500 : 200)) }
      try await stage.append("ana", "ben", "cem", "ben")
      store.refuse(writes: true)
      for _ in 1...5 {
        await #expect(throws: StoreError.diskFull) { try await worker.run() }
        stage.clock.advance(by: .seconds(15))
      }
      let sent = stage.receiver.takeRequests().map(\.sequence)
      #expect(Set(sent).count == sent.count, "\(sent)")
      #expect(try await stage.status().cursor.position == 0)
      store.refuse()
      _ = try await worker.run()
      // The time of its next attempt passed meanwhile, and others may not have been sent.
      let all = sent + stage.receiver.takeRequests().map(\.sequence)
      #expect(all.sorted() == [1, 2, 2, 3])
      #expect(try await stage.status().cursor.position == 4)
      #expect(try await stage.status().counts.pending == 2)
      _ = try await stage.restarted().run()
      #expect(stage.receiver.takeRequests().isEmpty)
    }
  }

  @Test("A message in flight when a write fails is not sent again")
  func inFlight() async throws {
    try await Stage.run(concurrency: 2) { stage in
      let store = RefusingStore(stage.store)
      let worker = stage.restarted(over: store)
      stage.receiver.pauses { request in
        guard request.sequence == 2 else { return }
        while store.refused == 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
      }
      stage.receiver.answers { .success(.status($0.sequence == 1 ? 500 : 200)) }
      try await stage.append("ana", "ben")
      store.refuse(writes: true)
      await #expect(throws: StoreError.diskFull) { try await worker.run() }
      store.refuse()
      _ = try await worker.run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [1, 2])
      #expect(try await stage.status().cursor.position == 2)
    }
  }

  @Test("A worker that ends stores what a failed write left")
  func ended() async throws {
    try await Stage.run { stage in
      let store = RefusingStore(stage.store)
      let worker = stage.restarted(over: store)
      try await stage.append("ana")
      store.refuse(writes: true)
      await #expect(throws: StoreError.diskFull) { try await worker.run() }
      store.refuse()
      await worker.finish()
      _ = try await stage.restarted().run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [1])
    }
  }

  @Test("A worker that counts its deliveries slowly counts them less often")
  func slowReads() async throws {
    try await Stage.run { stage in
      let store = RefusingStore(stage.store)
      let worker = stage.restarted(over: store)
      store.delayReads(by: .milliseconds(200))
      _ = try await worker.run()
      #expect(try await worker.run() >= 2_000)
    }
  }

  @Test("After a failed read, the outcomes of what was sent are stored")
  func refusedReads() async throws {
    try await Stage.run { stage in
      let store = RefusingStore(stage.store)
      let worker = stage.restarted(over: store)
      stage.receiver.pauses { _ in store.refuse(reads: true) }
      try await stage.append("ana", "ben")
      await #expect(throws: StoreError.diskFull) { try await worker.run() }
      store.refuse()
      stage.receiver.pauses { _ in }
      _ = try await stage.restarted().run()
      #expect(stage.receiver.takeRequests().map(\.sequence) == [1, 2])
    }
  }
}
