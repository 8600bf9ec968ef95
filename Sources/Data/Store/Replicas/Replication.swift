/// The part of a process among the replicas that share a store.
package enum ReplicaRole: Hashable, Sendable {
  /// The one replica that writes. `epoch` is the number of takeovers of the store up to this one; it rises without
  /// another role when the leader loses its session and takes over from itself.
  case leader(epoch: Int64)
  /// Reads, and hands what writes to the leader.
  case follower

  /// Whether it is the leader.
  package var isLeader: Bool { if case .leader = self { true } else { false } }
}

/// The time from one takeover of this process until it follows. The next takeover begins another term, also if no replica
/// led meanwhile; another session of the leader, with the next epoch, does not.
package struct LeaderTerm: Hashable, Sendable {
  private let number: Int64

  /// `number` counts the takeovers of this process.
  package init(_ number: Int64) { self.number = number }
}

/// The name of a replica, and the address at which operators reach it.
package struct ReplicaName: Hashable, Sendable {
  /// Unique among the replicas of a store, such as the host name.
  package let name: String
  /// Host and port of its gRPC listener, once it is open.
  package let address: String

  package init(name: String, address: String) {
    self.name = name
    self.address = address
  }
}

/// The leader as the store names it.
package struct CurrentLeader: Hashable, Sendable {
  /// The replica that leads.
  package let replica: ReplicaName
  /// The number of takeovers up to its own.
  package let epoch: Int64

  package init(_ replica: ReplicaName, epoch: Int64) {
    self.replica = replica
    self.epoch = epoch
  }
}

/// A replica that the store saw lately, and how far it was behind the commits then.
package struct ReplicaProgress: Hashable, Sendable {
  package let name: String
  /// The version of its program.
  package let program: String
  /// The commits that it had not applied.
  package let commitsBehind: Int64
  /// The milliseconds since the first of them.
  package let lagMilliseconds: Int64

  package init(name: String, program: String, commitsBehind: Int64, lagMilliseconds: Int64) {
    self.name = name
    self.program = program
    self.commitsBehind = commitsBehind
    self.lagMilliseconds = lagMilliseconds
  }
}

/// The division of work among the replicas that share one store: one of them, the leader, writes. The others
/// append what they receive to an inbox, from which the leader takes it.
///
/// A lease names the leader, for liveness only. Safety is the epoch: a commit of a replica that was replaced, or frozen
/// and woken, is refused.
package protocol Replication: Sendable {
  /// This replica.
  var name: ReplicaName { get }

  /// The part of this replica.
  var role: ReplicaRole { get }

  /// The term in which this replica leads; `nil` for a follower.
  var term: LeaderTerm? { get }

  /// The part of this replica now, and each later one. Changes that follow while the consumer is busy emit only the last.
  func roles() -> AsyncStream<ReplicaRole>

  /// The leader when this replica last looked; `nil` if there was none.
  var leader: CurrentLeader? { get }

  /// The replicas that the store saw in the last 30 seconds, by name.
  func replicas() async throws(StoreError) -> [ReplicaProgress]

  /// Whether this replica belongs to the same installation as the others: the first one stores the `fingerprint` of its
  /// key, and others compare theirs.
  func isInstallation(_ fingerprint: [UInt8]) async throws(StoreError) -> Bool

  /// States where operators reach this replica, once its listeners are open.
  func announce(address: String)

  /// States by which catalog this replica evaluates, before the first ``beat()`` and when it changes; `catalog` is the
  /// fingerprint. A replica does not become the leader while one with a newer catalog is alive. The one that the store has
  /// known for a shorter time is newer.
  func announce(catalog: UInt64)

  /// Takes, renews or observes the lease once; for the start, so that a single process leads from its first call on.
  func beat() async

  /// Lets another replica take the lease. This one continues as leader until then.
  func release() async

  /// Lets another replica lead at once, because this one cannot, and follows. It takes the lease again after `pause` at the
  /// earliest.
  func stepDown(for pause: Duration) async

  /// The loops that run in every replica: one of them keeps the lease, another reads what idle sessions receive.
  var workers: [any ReplicaWorker] { get }

  /// The calls and requests that replicas hand to the leader.
  var inbox: any Inbox { get }
}

/// A loop that runs in every replica until its task is cancelled.
package protocol ReplicaWorker: Sendable {
  func run() async
}

extension StoreError {
  /// A write in a replica that is not the leader.
  package static let notTheLeader = StoreError.unavailable("this replica is not the leader")
  /// A commit of a replica that was replaced.
  package static let anotherWriter = StoreError.conflict("another process writes to this store")
}
