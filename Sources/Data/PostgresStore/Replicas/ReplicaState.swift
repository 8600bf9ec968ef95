internal import Platform
internal import Store
internal import Synchronization

/// The part of this replica, which its writer and its lease change.
final class ReplicaState: Sendable {
  private struct State {
    var role = ReplicaRole.follower
    var takeovers: Int64 = 0
    var leader: CurrentLeader?
    /// When this replica last saw a leader or was one.
    var seenLeader = ContinuousClock.now
    var name: ReplicaName
    var catalog: UInt64 = 0
  }

  private let state: Mutex<State>
  private let changes = Signal()

  init(_ name: ReplicaName) { state = Mutex(State(name: name)) }

  var name: ReplicaName { state.withLock { $0.name } }
  /// The fingerprint of the catalog by which this replica evaluates.
  var catalog: UInt64 { state.withLock { $0.catalog } }
  var role: ReplicaRole { state.withLock { $0.role } }
  var leader: CurrentLeader? { state.withLock { $0.leader } }
  /// The term in which this replica leads; `nil` for a follower.
  var term: LeaderTerm? { state.withLock { $0.role.isLeader ? LeaderTerm($0.takeovers) : nil } }

  /// The time without a leader.
  var leaderless: Duration {
    state.withLock { $0.role.isLeader || $0.leader != nil ? .zero : ContinuousClock.now - $0.seenLeader }
  }

  func announce(address: String) {
    state.withLock { state in
      state.name = ReplicaName(name: state.name.name, address: address)
      if case .leader(let epoch) = state.role { state.leader = CurrentLeader(state.name, epoch: epoch) }
    }
  }

  func announce(catalog: UInt64) { state.withLock { $0.catalog = catalog } }

  func set(_ role: ReplicaRole) {
    let isNew = state.withLock { state in
      guard state.role != role else { return false }
      state.role = role
      state.seenLeader = .now
      state.leader = nil
      if case .leader(let epoch) = role {
        state.takeovers += 1
        state.leader = CurrentLeader(state.name, epoch: epoch)
      }
      return true
    }
    if isNew { changes.send() }
  }

  /// Records the epoch of a leader that continues on a new session. Its workers continue too, so no role is emitted.
  func continueLeading(epoch: Int64) {
    state.withLock { state in
      guard state.role.isLeader else { return }
      state.role = .leader(epoch: epoch)
      state.leader = CurrentLeader(state.name, epoch: epoch)
    }
  }

  /// Records what a follower saw in the store.
  func observe(_ leader: CurrentLeader?) {
    state.withLock { state in
      state.leader = leader
      if leader != nil { state.seenLeader = .now }
    }
  }

  /// The role now and after each change, until ``finish()``.
  func roles() -> AsyncStream<ReplicaRole> {
    let changes = changes.listen()
    let (roles, role) = AsyncStream.makeStream(of: ReplicaRole.self, bufferingPolicy: .bufferingNewest(1))
    role.yield(self.role)
    let task = Task {
      for await _ in changes { role.yield(self.role) }
      role.finish()
    }
    role.onTermination = { _ in task.cancel() }
    return roles
  }

  func finish() { changes.finish() }
}
