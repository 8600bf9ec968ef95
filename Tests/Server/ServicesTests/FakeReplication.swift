import Store
import Synchronization

@testable import Services

/// A replica whose part a test sets.
final class FakeReplication: Replication {
  let fake = FakeInbox()
  private struct State {
    var role = ReplicaRole.follower
    var takeovers: Int64 = 0
    var roles: AsyncStream<ReplicaRole>.Continuation?
  }

  private let state = Mutex(State())
  private let stepDownStream = AsyncStream.makeStream(of: Void.self)
  /// Emits each time that the replica stepped down.
  var stepDowns: AsyncStream<Void> { stepDownStream.stream }

  var name: ReplicaName { ReplicaName(name: "fake", address: "") }
  var role: ReplicaRole { state.withLock { $0.role } }
  var term: LeaderTerm? { state.withLock { $0.role.isLeader ? LeaderTerm($0.takeovers) : nil } }
  var leader: CurrentLeader? { nil }
  var workers: [any ReplicaWorker] { [] }
  var inbox: any Inbox { fake }

  func roles() -> AsyncStream<ReplicaRole> {
    let (roles, continuation) = AsyncStream.makeStream(of: ReplicaRole.self)
    state.withLock { state in
      continuation.yield(state.role)
      state.roles = continuation
    }
    return roles
  }

  func set(_ role: ReplicaRole) {
    state.withLock { state in
      state.role = role
      if role.isLeader { state.takeovers += 1 }
      state.roles?.yield(role)
    }
  }

  func replicas() async throws(StoreError) -> [ReplicaProgress] { [] }

  func isInstallation(_ fingerprint: [UInt8]) async throws(StoreError) -> Bool { true }
  func announce(address: String) {}
  func announce(catalog: UInt64) {}
  func beat() async {}
  func release() async {}

  func stepDown(for pause: Duration) async {
    set(.follower)
    stepDownStream.continuation.yield()
  }
}

/// An inbox whose entries all have one outcome.
final class FakeInbox: Inbox {
  private struct State {
    var entries: [InboxEntry] = []
    var answer = ForwardedOutcome.done
  }

  private let state = Mutex(State())

  var entries: [InboxEntry] { state.withLock { $0.entries } }
  var answer: ForwardedOutcome {
    get { state.withLock { $0.answer } }
    set { state.withLock { $0.answer = newValue } }
  }

  func append(_ entry: InboxEntry) async throws(StoreError) -> InboxKey {
    state.withLock { state in
      state.entries.append(entry)
      return InboxKey(id: Int64(state.entries.count), token: entry.key.token)
    }
  }

  func outcome(
    of key: InboxKey, until deadline: ContinuousClock.Instant
  ) async throws(StoreError) -> [UInt8] {
    state.withLock { state in
      let context = ForwardedContext(decoding: state.entries[Int(key.id) - 1].context)
      return context?.outcomeKey?.seal(state.answer) ?? state.answer.encoded
    }
  }

  func take(_ limit: Int, except excluded: InboxExclusion) async throws(StoreError) -> [InboxEntry] { [] }
  func finish(_ key: InboxKey, _ outcome: [UInt8]) async throws(StoreError) {}
  func finish(
    _ key: InboxKey, _ outcome: [UInt8], in transaction: any StoreTransaction
  ) throws(StoreError) -> Bool { true }
  func remove(_ key: InboxKey, in transaction: any StoreTransaction) throws(StoreError) {}
  func deleteOldOutcomes() async throws(StoreError) {}
  func backlog() async throws(StoreError) -> (count: Int64, oldest: Int64) { (0, 0) }
}
