internal import PostgreSQL
internal import SQLStore
internal import Store

/// This process as one of the replicas that share a database.
final class PostgresReplication: Replication {
  private let state: ReplicaState
  private let keeper: LeaseKeeper
  private let thread: SessionThread
  private let postgresInbox: PostgresInbox
  var inbox: any Inbox { postgresInbox }

  init(
    _ settings: PostgresSettings, _ state: ReplicaState, _ lease: Lease, _ writer: PostgresWriter,
    _ queue: WriteQueue, _ feed: StoreFeed
  ) {
    self.state = state
    keeper = LeaseKeeper(settings, state, lease, writer, queue)
    thread = SessionThread("replicas", LazySession(settings))
    postgresInbox = PostgresInbox(settings, queue, feed)
  }

  var name: ReplicaName { state.name }
  var role: ReplicaRole { state.role }
  var term: LeaderTerm? { state.term }
  var leader: CurrentLeader? { state.leader }
  /// The time without a leader.
  var leaderless: Duration { state.leaderless }
  var workers: [any ReplicaWorker] { [keeper, InboxListening(inbox: postgresInbox)] }

  func replicas() async throws(StoreError) -> [ReplicaProgress] {
    try await thread.run { session throws(StoreError) in
      try RegisteredReplica.alive(session.connection()).map { replica in
        ReplicaProgress(
          name: replica.name, program: replica.program, commitsBehind: replica.commitsBehind,
          lagMilliseconds: replica.lagMilliseconds)
      }
    }
  }

  func isInstallation(_ fingerprint: [UInt8]) async throws(StoreError) -> Bool {
    try await keeper.isInstallation(fingerprint)
  }

  func roles() -> AsyncStream<ReplicaRole> { state.roles() }
  func announce(address: String) { state.announce(address: address) }
  func announce(catalog: UInt64) { state.announce(catalog: catalog) }
  /// The catalog of this replica.
  var catalog: UInt64 { state.catalog }
  func beat() async { await keeper.beat() }
  func release() async { await keeper.release() }
  func stepDown(for pause: Duration) async { await keeper.stepDown(for: pause) }
  func finish() { state.finish() }
}
