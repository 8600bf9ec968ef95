internal import Platform
internal import PostgreSQL
internal import Store
internal import Synchronization

/// Follows the commits of the leader: in a follower every customer counts as changed after each of them.
final class HeadFollower: ReplicaWorker, Sendable {
  private static let polling = Duration.milliseconds(20)

  private let thread: SessionThread
  private let replica: ReplicaState
  private let changes: CustomerVersions
  private let commits: Signal
  private let position = Mutex<Int64>(-1)

  init(_ settings: PostgresSettings, _ replica: ReplicaState, _ changes: CustomerVersions, _ commits: Signal)
  {
    thread = SessionThread("follower", LazySession(settings))
    self.replica = replica
    self.changes = changes
    self.commits = commits
  }

  func run() async {
    repeat {
      guard !replica.role.isLeader else { continue }
      await follow()
    } while (try? await Task.sleep(for: Self.polling)) != nil
  }

  /// Waits until this process has applied the commits up to `position`, for a bounded time.
  func wait(for position: Int64, atMost duration: Duration) async {
    let end = ContinuousClock.now + duration
    while self.position.withLock({ $0 < position }), !replica.role.isLeader, ContinuousClock.now < end {
      await follow()
    }
  }

  private func follow() async {
    let found = try? await thread.run { session throws(StoreError) in
      try session.connection().number("SELECT position FROM head")
    }
    guard let found, position.withLock({ $0 < found }) else { return }
    changes.raiseAll()
    position.withLock { $0 = max($0, found) }
    commits.send()
  }
}
