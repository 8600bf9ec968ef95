internal import PostgreSQL
internal import SQLStore
internal import Store

/// Owns the writer's session, while this process may write.
// Unchecked: after `init` only the queue's serial thread uses it.
final class PostgresWriter: StoreWriter, @unchecked Sendable {
  /// The parts from which a writer is made.
  struct Dependencies: Sendable {
    let settings: PostgresSettings
    let changes: CustomerVersions
    let feed: StoreFeed
    let vacuum: RemnantVacuum
    let hash: CustomerIdentity.Hash
    let maxRejectedBytes: Int64
    let maxBodyTime: Duration

    /// A writer on a session that may write. Its caches begin empty, since others may have written.
    func writer(on database: PostgresDatabase) throws(StoreError) -> BatchWriter {
      if try RemnantVacuum.isMissing(database.connection) { vacuum.start() }
      return try BatchWriter(
        database, changes: changes, hash: hash, maxRejectedBytes: maxRejectedBytes, maxBodyTime: maxBodyTime)
    }
  }

  private var writer: BatchWriter?
  /// The session of a process that has the store for itself; `nil` in a replica.
  private var ownDatabase: PostgresDatabase?
  private let dependencies: Dependencies
  /// `nil` in a process that has the store for itself.
  private let replica: ReplicaState?
  private var isClosed = false

  /// Without `replica` it takes the right to write at once.
  init(_ dependencies: Dependencies, replica: ReplicaState?) throws(StoreError) {
    self.dependencies = dependencies
    self.replica = replica
    guard replica == nil else { return }
    let database = try PostgresDatabase(dependencies.settings, feed: dependencies.feed)
    try database.claimWriting()
    writer = try dependencies.writer(on: database)
    ownDatabase = database
    // A write does not wait for a database that stopped answering.
    database.interrupt { [feed = dependencies.feed] in feed.isAway }
  }

  func write(
    _ batch: [WriteJob], joinedBy arrived: () -> [WriteJob]
  ) -> (count: Int, failure: StoreError?) {
    guard let writer else {
      let error = isClosed ? StoreError.closed : .notTheLeader
      for job in batch { job.reject(error) }
      return (batch.count, error)
    }
    let result = writer.write(batch, joinedBy: arrived)
    if result.failure == .anotherWriter, let ownDatabase { continueWriting(on: ownDatabase) }
    // A commit may have succeeded just before another replica took over.
    if result.failure == .anotherWriter || replica?.role == .follower { follow() }
    return result
  }

  /// Takes the lease and the right to write.
  ///
  /// - Returns: whether this replica leads now.
  func lead(with lease: Lease) throws(StoreError) -> Bool {
    guard let replica, !isClosed else { return false }
    writer = nil
    let database = try PostgresDatabase(dependencies.settings, feed: dependencies.feed)
    guard try database.claimWriting(with: lease, catalog: replica.catalog), let claim = database.claim else {
      return false
    }
    // The next commit of the leader before is refused. Its last ones reach this process by the feed, as before.
    writer = try makeWriter(on: database, claim)
    database.wasReplaced = { replica.set(.follower) }
    database.didTakeOverAgain = { replica.continueLeading(epoch: $0) }
    replica.set(.leader(epoch: claim.epoch))
    // A write does not wait for a database that stopped answering, nor beyond the end of the lease.
    database.interrupt { [feed = dependencies.feed] in feed.isAway || !replica.role.isLeader }
    return true
  }

  /// A writer of a new term. What is in memory stays, unless the database lost commits that this process followed.
  private func makeWriter(
    on database: PostgresDatabase, _ claim: WriterClaim
  ) throws(StoreError) -> BatchWriter {
    let feed = dependencies.feed
    let ticket = feed.termReadBegan()
    if !feed.replaceTerms(try ChangeSession.terms(on: database.connection), ticket) {
      dependencies.changes.raiseAll()
      feed.reset(to: claim.position)
    }
    return try dependencies.writer(on: database)
  }

  /// Writes again if no other process took over: the database may have lost the last commits of this one. Otherwise, and
  /// after an error, the next write fails in the same way.
  private func continueWriting(on database: PostgresDatabase) {
    do throws(StoreError) {
      try database.claimWritingAgain()
      guard let claim = database.claim else { return }
      writer = try makeWriter(on: database, claim)
    } catch {}
  }

  /// Goes on as a follower; the replica may lead again later. Does nothing in a process that has the store for itself.
  func follow() {
    guard let replica else { return }
    writer = nil
    replica.set(.follower)
  }

  /// PostgreSQL's autovacuum and checkpointer do the rest.
  func maintain() {}

  func close() {
    isClosed = true
    writer = nil
    ownDatabase = nil
    replica?.set(.follower)
  }
}
