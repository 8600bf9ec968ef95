internal import Platform
package import SQLStore
internal import SQLite
package import Store

/// The store in one local directory: SQLite in WAL mode, with one writer and any number of readers.
package final class SQLiteEntitlementStore: EntitlementStore {
  /// Locked until the store is released.
  private let directory: StoreDirectory
  private let writer: SQLiteWriter
  private let queue: WriteQueue
  private let readers: ReaderPool
  private let hash: CustomerIdentity.Hash
  /// Raised by the writer after a commit and before ``write(_:)`` returns.
  package let changes = CustomerVersions()
  /// Always has everything, because no other process writes.
  package let feed: StoreFeed

  /// The path of the database file.
  var path: String { directory.databasePath }

  /// Opens the store in `directory`, and creates it if it is missing.
  ///
  /// - Parameters:
  ///   - directory: the data directory; created with access for this user only, if it is missing.
  ///   - capacity: the maximum number of queued writes; further ones are rejected.
  ///   - batchSize: the maximum number of writes in one durable commit.
  ///   - reads: the threads for reads.
  ///   - hash: the first row number to try for a customer; only tests replace it.
  ///   - maxRejectedBytesPerDay: the bytes of rejected evidence that a day (UTC) may add to each app.
  /// - Throws: ``StoreError/cannotOpen(path:reason:)``, ``StoreError/inUse(path:)`` if another process has
  ///   locked the store, ``StoreError/missing(path:marker:)`` if the store that was made here is gone,
  ///   ``StoreError/newerSchema(found:supported:)``, ``StoreError/diskFull``.
  package init(
    directory: String, capacity: Int = 4096, batchSize: Int = 256, reads: ReaderPool.Limits = .init(),
    hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash,
    maxRejectedBytesPerDay: Int64 = BatchWriter.maxRejectedBytesPerDay
  ) throws(StoreError) {
    let opened = try StoreDirectory(directory)
    self.directory = opened
    self.hash = hash
    let (path, changes) = (opened.databasePath, changes)
    writer = try SQLiteWriter(
      path: path, changes: changes,
      ifEmpty: opened.isMarked ? StoreDirectory.missing(in: directory) : nil, hash: hash,
      maxRejectedBytes: maxRejectedBytesPerDay)
    feed = StoreFeed(terms: writer.terms)
    queue = WriteQueue(writer, capacity: capacity, batchSize: batchSize)
    try opened.mark()
    readers = ReaderPool(reads, changes: changes, hash: hash) { () throws(StoreError) in
      try Connection.reader(path: path)
    }
    try readers.open()
  }

  deinit { readers.stop() }

  /// Returns the customer's row id in the absence of collisions. Bulk writes in this order touch each page
  /// once.
  package static func row(of customer: CustomerKey) -> Int64 { CustomerIdentity.hash(customer) }

  /// Runs `body` in one read transaction on a thread of the pool. At most as many reads run as the machine has
  /// cores, but at least 2, and one more for ``ReadPriority/check``.
  ///
  /// All of them open with the store.
  ///
  /// A read that waits or runs past its deadline stops within a few thousand steps of SQLite's virtual
  /// machine.
  package func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await readers.read(priority, deadline: deadline, body)
  }

  /// Opens a separate connection, because connections are not thread-safe.
  package func makeCheckReader() throws(StoreError) -> sending any CheckReader {
    try makeReader(Connection.reader(path: path), changes: changes, hash: hash)
  }

  /// Queues `body` for the writer thread, and returns after the WAL with its commit is synced to disk
  /// (`synchronous = FULL`). Up to `batchSize` queued bodies share one sync.
  package func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try await queue.write(body)
  }

  /// Runs `body` in a savepoint that is rolled back. Its batch commits anyway.
  package func dryRun<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try await queue.dryRun(body)
  }

  /// Empties the WAL. A small store is rewritten as well, because SQLite leaves copies of moved rows in the free space
  /// of pages; `entitled store vacuum` rewrites a large one.
  @discardableResult
  package func purgeRemnants() async -> Bool { await queue.purgeRemnants() }

  /// Emits after each batch, not after each write.
  package func commits() -> AsyncStream<Void> { queue.commits.listen() }

  /// Checks that the files are in place. After a failed commit it also replaces 64 KiB of filler.
  package func health() async throws(StoreError) {
    if let path = writer.files.removed { throw .removed(path: path) }
    guard queue.lastFailure != nil else { return }
    try await queue.probe()
  }

  /// Closes readers first, then the writer, which truncates the WAL. Releasing the store unlocks its
  /// directory.
  package func close() async {
    // Readers close first, because the writer truncates the WAL when it closes, and an open reader
    // prevents that.
    await readers.close()
    await queue.close()
  }
}
