package import AppStore
internal import Dispatch
internal import Foundation
internal import Platform
package import PostgreSQL
package import SQLStore
package import Store
internal import Synchronization

/// The store in a database of PostgreSQL 15 or later, with one writer and any number of readers.
///
/// As a replica, a process writes while it has the lease of the leader. A process that opens the store for itself writes
/// at once, and those before it can only read.
package final class PostgresEntitlementStore: EntitlementStore {
  let settings: PostgresSettings
  private let queue: WriteQueue
  private let readers: ReaderPool
  private let hash: CustomerIdentity.Hash
  private let replica: PostgresReplication?
  package var replication: (any Replication)? { replica }
  /// The catalog of this process; 0 if it is no replica.
  var catalog: UInt64 { replica?.catalog ?? 0 }
  /// The session of ``makeAnswerLoader()``; `nil` until it is needed.
  private let pipeline = Mutex<PostgresQueryPipeline?>(nil)
  /// Raised by the writer after a commit and before ``write(_:)`` returns, and by the feed worker for other processes.
  package let changes = CustomerVersions()
  /// Follows the commits of all processes, and advances after their customers are in ``changes``.
  package let feed: StoreFeed
  /// The inputs of migration jobs in the database, which every replica reads.
  package let uploads: (any UploadStore)?
  private let feedWorker: ChangeFeedWorker
  private let vacuum: RemnantVacuum

  /// Opens the store in a database, and creates its tables if there are none.
  ///
  /// - Parameters:
  ///   - settings: how sessions are opened.
  ///   - name: the name of this replica; `nil` for a process that opens the store for itself.
  ///   - reads: the number of sessions for reads.
  ///   - hash: the first row number to try for a customer; only tests replace it.
  ///   - maxRejectedBytesPerDay: the bytes of rejected evidence that a day (UTC) may add to each app.
  ///   - maxBodyTime: after it no further body begins in a transaction, so that the server does not take this process for
  ///     a frozen one.
  ///   - leaseDuration: how long the lease of the leader lasts after each renewal; whole seconds.
  ///   - answerTimeout: the time after which the database is away if it does not answer the feed.
  ///   - staleness: how long answers from memory serve while the database is away.
  ///   - now: the machine's time.
  /// - Throws: ``StoreError/unavailable(_:)``, ``StoreError/newerSchema(found:supported:)``.
  package init(
    _ settings: PostgresSettings, replica name: ReplicaName? = nil, reads: ReaderPool.Limits = .init(),
    hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash,
    maxRejectedBytesPerDay: Int64 = BatchWriter.maxRejectedBytesPerDay,
    maxBodyTime: Duration = .seconds(1), leaseDuration: Duration = .seconds(5),
    answerTimeout: Duration = .seconds(30),
    staleness: StalenessPolicy = StalenessPolicy(),
    now: @escaping @Sendable () -> Instant = PostgresEntitlementStore.machineTime
  ) throws(StoreError) {
    self.settings = settings
    self.hash = hash
    let state = name.map(ReplicaState.init)
    try PostgresSchema.create(in: settings)
    // Before the first read, because whatever is cached from then on may change.
    let feed = try ChangeSession(settings, timeout: .seconds(30)).makeFeed(staleness, at: now())
    self.feed = feed
    vacuum = RemnantVacuum(settings, feed)
    let writer = try PostgresWriter(
      .init(
        settings: settings, changes: changes, feed: feed, vacuum: vacuum, hash: hash,
        maxRejectedBytes: maxRejectedBytesPerDay, maxBodyTime: maxBodyTime),
      replica: state)
    let queue = WriteQueue(writer, capacity: 4096, batchSize: 256)
    self.queue = queue
    uploads = PostgresUploads(settings, feed)
    replica = state.map {
      PostgresReplication(settings, $0, Lease(duration: leaseDuration), writer, queue, feed)
    }
    feedWorker = ChangeFeedWorker(
      settings, timeout: answerTimeout, feed: feed, changes: changes, commits: queue.commits, now: now,
      isWriter: { state?.role.isLeader ?? true },
      onLoss: { _ in queue.rejectWaiting(.doesNotAnswer) })
    readers = ReaderPool(reads, changes: changes, hash: hash) { () throws(StoreError) in
      try PostgresDatabase(settings, feed: feed)
    }
    try readers.open()
    feedWorker.start()
  }

  /// The time of the machine's clock.
  package static let machineTime: @Sendable () -> Instant = {
    Instant(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
  }

  deinit {
    readers.stop()
    vacuum.close()
    feedWorker.close()
  }

  /// Runs `body` in one transaction of the isolation level REPEATABLE READ, on a thread of the pool.
  package func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try requireContact()
    return try await readers.read(priority, deadline: deadline, body)
  }

  /// Fails at once while the database does not answer; callers would wait for the timeouts of connections.
  private func requireContact() throws(StoreError) {
    if feed.isAway { throw .doesNotAnswer }
  }

  /// Opens a separate session. Its reads block for one round trip each.
  package func makeCheckReader() throws(StoreError) -> sending any CheckReader {
    try makeReader(PostgresDatabase(settings), changes: changes, hash: hash)
  }

  /// All loaders share one session, which is open if the database answers.
  package func makeAnswerLoader() throws(StoreError) -> (any AnswerLoader)? {
    let pipeline: Result<PostgresQueryPipeline, PostgresError> = pipeline.withLock { pipeline in
      do throws(PostgresError) {
        let open = if let pipeline { pipeline } else { try Self.openPipeline(settings) }
        pipeline = open
        return .success(open)
      } catch {
        return .failure(error)
      }
    }
    switch pipeline {
    case .success(let pipeline): return AnswerBatcher(pipeline, changes: changes, feed: feed, hash: hash)
    case .failure(let error): throw StoreError(error)
    }
  }

  /// Waits for the session, so that the first calls do not fail.
  private static func openPipeline(
    _ settings: PostgresSettings
  ) throws(PostgresError) -> PostgresQueryPipeline {
    let isTried = DispatchSemaphore(value: 0)
    let pipeline = try PostgresQueryPipeline(settings) { _ in isTried.signal() }
    _ = isTried.wait(timeout: .now() + .seconds(2))
    return pipeline
  }

  /// Queues `body` for the writer, and returns after its commit is as durable as the server's `synchronous_commit`
  /// says. Up to `batchSize` queued bodies share one commit.
  package func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try requireContact()
    return try await queue.write(body)
  }

  /// Fetches the expected rows of all bodies of a batch in two round trips.
  package func write<Outcome: Sendable>(
    expecting expected: @autoclosure () -> ExpectedReads,
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try requireContact()
    return try await queue.write(expecting: expected(), body)
  }

  /// Runs `body` in a savepoint that is rolled back. Its batch commits anyway.
  package func dryRun<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try requireContact()
    return try await queue.dryRun(body)
  }

  /// Starts a `VACUUM`, after which other rows overwrite the space. What was written to the write-ahead log and to backups
  /// stays as long as the server keeps them.
  @discardableResult
  package func purgeRemnants() async -> Bool {
    vacuum.start()
    return false
  }

  /// Emits after each batch, not after each write, and after batches of other processes.
  package func commits() -> AsyncStream<Void> { queue.commits.listen() }

  /// The longest time without a leader, after which writing does not work. A takeover takes less.
  private static let maxLeaderless = Duration.seconds(15)

  /// Reads one row. After a failed commit it also replaces 64 KiB of filler; in a follower, another replica must lead.
  package func health() async throws(StoreError) {
    _ = try await read { snapshot throws(StoreError) in try snapshot.lastEvidence() }
    if let replica, !replica.role.isLeader {
      guard replica.leaderless < Self.maxLeaderless else { throw .unavailable("no replica is the leader") }
      return
    }
    guard queue.lastFailure != nil else { return }
    try await queue.probe()
  }

  /// Gives up the lease first, so that another replica can lead at once.
  package func close() async {
    await replica?.release()
    replica?.finish()
    vacuum.close()
    pipeline.withLock { $0?.close() }
    await readers.close()
    await queue.close()
    // Last, because it ends round trips that wait for a database that stopped answering.
    feedWorker.close()
  }
}

extension PostgresEntitlementStore: SQLBackedStore {
  /// Opens a separate session.
  package func makeConnection() throws(StoreError) -> any SQLConnection { try PostgresDatabase(settings) }
}

extension StoreError {
  /// The error of calls while the feed has no answer of the database.
  static let doesNotAnswer = StoreError.unavailable("the database does not answer")
}
