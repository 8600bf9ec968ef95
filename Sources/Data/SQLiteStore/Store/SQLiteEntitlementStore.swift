package import Store

/// The store in one directory of the local disk: SQLite, one writer, any number of readers.
package final class SQLiteEntitlementStore: EntitlementStore {
  private let directory: DataDirectory
  private let queue: WriteQueue
  private let readers: ReaderPool
  private let hash: CustomerIdentity.Hash
  package let changes = CustomerVersions()

  /// The database file.
  var path: String { directory.databasePath }

  /// Opens the store in `directory`, and makes it if there is none.
  ///
  /// - Parameters:
  ///   - directory: where the files are; made, for this user alone, if missing.
  ///   - capacity: how many writes may wait before the next one is refused.
  ///   - batchSize: how many writes are made durable together at most.
  /// - Throws: ``StoreError/cannotOpen(path:reason:)``, ``StoreError/inUse(path:)`` if another process has
  ///   it, ``StoreError/newerSchema(found:supported:)``, ``StoreError/diskFull``.
  package convenience init(
    directory: String, capacity: Int = 4096, batchSize: Int = 256
  ) throws(StoreError) {
    try self.init(
      directory: directory, capacity: capacity, batchSize: batchSize, hash: CustomerIdentity.hash)
  }

  /// `hash` as in ``CustomerRow``.
  init(
    directory: String, capacity: Int = 4096, batchSize: Int = 256, reads: ReaderPool.Limits = .init(),
    hash: @escaping CustomerIdentity.Hash
  ) throws(StoreError) {
    self.directory = try DataDirectory(directory)
    self.hash = hash
    let (path, changes) = (self.directory.databasePath, changes)
    queue = try WriteQueue(
      path: path, capacity: capacity, batchSize: batchSize, changes: changes, hash: hash)
    readers = ReaderPool(reads) { () throws(StoreError) in
      try SQLiteReader(path: path, changes: changes, hash: hash)
    }
  }

  deinit { readers.stop() }

  /// Where a customer's row is, if no other is there: who writes many customers does it in this order.
  package static func row(of customer: CustomerKey) -> Int64 { CustomerIdentity.hash(customer) }

  package func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await readers.read(priority, deadline: deadline, body)
  }

  package func makeCheckReader() throws(StoreError) -> sending any CheckReader {
    try SQLiteReader(path: directory.databasePath, changes: changes, hash: hash)
  }

  package func makeReader() throws(StoreError) -> sending any StoreReader {
    try SQLiteReader(path: directory.databasePath, changes: changes, hash: hash)
  }

  package func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try await enqueue { transaction throws(StoreError) in try body(transaction) }
  }

  package func dryRun<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    let outcome: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      queue.add(
        .rehearsal({ transaction throws(StoreError) in try body(transaction) }) {
          continuation.resume(returning: $0)
        })
    }
    return try outcome.get()
  }

  package func commits() -> AsyncStream<Void> { queue.commits.listen() }

  package func health() async throws(StoreError) {
    guard queue.lastFailure != nil else { return }
    try await enqueue { transaction throws(StoreError) in try transaction.probe() }
  }

  package func close() async {
    // Readers first: the writer empties the log at its end, unless a reader needs it.
    await readers.close()
    await queue.close()
  }

  private func enqueue<Outcome: Sendable>(
    _ body: @escaping @Sendable (SQLiteTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    let outcome: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      queue.add(WriteJob(body) { continuation.resume(returning: $0) })
    }
    return try outcome.get()
  }
}
