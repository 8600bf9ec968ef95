internal import Platform
internal import SQLStore
internal import SQLite
internal import Store

/// Owns the writer's connection.
// Unchecked: after `init` only the queue's serial thread uses it.
final class SQLiteWriter: StoreWriter, @unchecked Sendable {
  private var open: (connection: Connection, writer: BatchWriter)?
  private let checkpointer: Checkpointer
  /// The files to which this connection writes.
  let files: OpenStoreFiles
  private var diskFull: DiskFullLog
  /// The terms of the history; the last began with this writer.
  let terms: [StoreTerm]
  /// A store up to this size, in bytes, is rewritten after an erasure: that takes a second or two.
  private static let maxRewrittenBytes: Int64 = 128 << 20

  /// Opens the store at `path`. `hash` is that of ``CustomerRow``; `maxRejectedBytes` that of ``EvidenceRows``.
  ///
  /// - Throws: `missing` if the database is empty; `nil` creates its tables.
  init(
    path: String, changes: CustomerVersions, ifEmpty missing: StoreError?,
    hash: @escaping CustomerIdentity.Hash, maxRejectedBytes: Int64
  ) throws(StoreError) {
    let connection = try Connection.writer(path: path)
    try Schema.create(connection, unless: missing)
    // A process that was killed after an erasure left a log with the erased rows.
    _ = try? connection.truncateWAL()
    terms = try HistoryTerms.begin(on: connection)
    let writer = try BatchWriter(
      connection, changes: changes, hash: hash, maxRejectedBytes: maxRejectedBytes)
    open = (connection, writer)
    checkpointer = try Checkpointer(path: path)
    connection.disableAutomaticCheckpoints()
    files = OpenStoreFiles(database: path)
    diskFull = DiskFullLog(path: path)
  }

  /// Commits a batch, as ``BatchWriter/write(_:joinedBy:)``. A write that was queued after the removal of a file is
  /// rejected, also if it arrives in the middle of a batch that began before.
  func write(
    _ batch: [WriteJob], joinedBy arrived: () -> [WriteJob]
  ) -> (count: Int, failure: StoreError?) {
    guard let open else { return reject(batch, .closed) }
    if let path = files.removed { return reject(batch, .removed(path: path)) }
    let result = open.writer.write(batch) {
      let jobs = arrived()
      guard !jobs.isEmpty, let path = files.removed else { return jobs }
      _ = reject(jobs, .removed(path: path))
      return []
    }
    diskFull.record(result.failure, at: .now)
    return result
  }

  private func reject(_ batch: [WriteJob], _ error: StoreError) -> (count: Int, failure: StoreError?) {
    for job in batch { job.reject(error) }
    return (batch.count, error)
  }

  /// Runs the maintenance between two batches.
  func maintain() {
    if let open { checkpointer.checkpointIfNeeded(after: open.connection) }
  }

  /// Rewrites a small store, and empties the log. Returns whether the log is empty.
  func purgeRemnants() -> Bool {
    guard let connection = open?.connection else { return false }
    let size = try? connection.databaseSize()
    if let size, size <= Self.maxRewrittenBytes { try? connection.execute("VACUUM") }
    return truncateWAL(timeout: 500)
  }

  func finishPurge() -> Bool { truncateWAL() }

  /// Returns whether the log is empty; waits at most `timeout` milliseconds for readers.
  private func truncateWAL(timeout: Int = 0) -> Bool {
    (try? open?.connection.truncateWAL(timeout: timeout)) == true
  }

  func close() {
    checkpointer.close()
    // Moves all pages into the database file, so that the file can be copied. While a reader is open, the WAL
    // keeps the pages that could not be checkpointed.
    _ = try? open?.connection.truncateWAL()
    open = nil
  }
}
