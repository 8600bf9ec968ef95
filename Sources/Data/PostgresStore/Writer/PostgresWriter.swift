internal import PostgreSQL
internal import SQLStore
internal import Store

/// Owns the writer's session.
// Unchecked: after `init` only the queue's serial thread uses it.
final class PostgresWriter: StoreWriter, @unchecked Sendable {
  private var writer: BatchWriter?
  private let settings: PostgresSettings

  /// Creates the tables of an empty database. `hash` is that of ``CustomerRow``; `maxRejectedBytes` that of
  /// ``EvidenceRows``.
  init(
    _ settings: PostgresSettings, changes: CustomerVersions, hash: @escaping CustomerIdentity.Hash,
    maxRejectedBytes: Int64
  ) throws(StoreError) {
    self.settings = settings
    let database = try PostgresDatabase(settings)
    try PostgresSchema.create(database.connection)
    try database.claimWriting()
    writer = try BatchWriter(database, changes: changes, hash: hash, maxRejectedBytes: maxRejectedBytes)
  }

  func write(
    _ batch: [WriteJob], joinedBy arrived: () -> [WriteJob]
  ) -> (count: Int, failure: StoreError?) {
    guard let writer else {
      for job in batch { job.reject(.closed) }
      return (batch.count, .closed)
    }
    return writer.write(batch, joinedBy: arrived)
  }

  /// PostgreSQL's autovacuum and checkpointer do the rest.
  func maintain() {}

  /// Makes the space of deleted and replaced rows available for other rows, which overwrite it.
  func purgeRemnants() -> Bool { finishPurge() }

  func finishPurge() -> Bool {
    do throws(StoreError) {
      try PostgresConnection<StoreError>(settings).execute("VACUUM")
      return true
    } catch {
      return false
    }
  }

  func close() { writer = nil }
}
