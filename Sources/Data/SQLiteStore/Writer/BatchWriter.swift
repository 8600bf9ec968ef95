internal import Metrics
internal import SQLite
internal import Store

/// Runs many writes in one transaction, so that they share the cost of becoming durable.
///
/// Used by one thread at a time: the writer's queue sees to that.
final class BatchWriter {
  private let connection: Connection
  private let transaction: SQLiteTransaction
  private let changes: CustomerVersions
  private let begin: Statement
  private let commit: Statement
  private let savepoint: Statement
  private let release: Statement
  private let rollbackToSavepoint: Statement

  /// `hash` as in ``CustomerRow``.
  init(
    _ connection: Connection, changes: CustomerVersions,
    hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash
  ) throws(StoreError) {
    self.connection = connection
    self.changes = changes
    transaction = try SQLiteTransaction(connection, hash: hash)
    begin = try Statement("BEGIN IMMEDIATE", on: connection)
    commit = try Statement("COMMIT", on: connection)
    savepoint = try Statement("SAVEPOINT body", on: connection)
    release = try Statement("RELEASE body", on: connection)
    rollbackToSavepoint = try Statement("ROLLBACK TO body", on: connection)
  }

  /// Runs `batch`, makes it durable and tells everyone who waits.
  ///
  /// - Returns: why nothing of it could be made durable; `nil` if all went well.
  func write(_ batch: [WriteJob]) -> StoreError? {
    var outcomes: [WriteJob.Outcome] = []
    outcomes.reserveCapacity(batch.count)
    do throws(StoreError) {
      try begin.run()
      if try !runBatch(batch, &outcomes) {
        for job in batch { outcomes.append(try runIndividually(job)) }
      }
      try commit.run()
      changes.committed(transaction.takeChangedCustomers())
      for outcome in outcomes { outcome.finish(nil) }
      return nil
    } catch {
      abandon()
      for outcome in outcomes { outcome.finish(error) }
      for job in batch.dropFirst(outcomes.count) { job.refuse(error) }
      return error
    }
  }

  /// Runs the bodies one after the other, as if they were one. That is how it mostly goes: a savepoint for each
  /// costs a copy of every page that changes behind it.
  ///
  /// - Returns: false if one of them has to be taken back. Then none of them has been run.
  private func runBatch(
    _ batch: [WriteJob], _ outcomes: inout [WriteJob.Outcome]
  ) throws(StoreError) -> Bool {
    guard !batch.contains(where: \.isRehearsal) else { return false }
    for job in batch {
      let outcome = job.run(transaction)
      guard outcome.isKept else {
        outcomes.removeAll(keepingCapacity: true)
        abandon()
        try begin.run()
        return false
      }
      outcomes.append(outcome)
    }
    return true
  }

  /// Runs one body so that it happens whole or not at all, whatever the others of the batch do.
  ///
  /// - Throws: if the transaction of the whole batch is lost.
  private func runIndividually(_ job: WriteJob) throws(StoreError) -> WriteJob.Outcome {
    try savepoint.run()
    let outcome = job.run(transaction)
    if !outcome.isKept {
      // When the disk is full SQLite may have rolled back everything already.
      guard connection.isInTransaction else { throw outcome.failure ?? .failed("a transaction was lost") }
      try rollbackToSavepoint.run()
      transaction.rolledBack()
    }
    try release.run()
    return outcome
  }

  private func abandon() {
    _ = transaction.takeChangedCustomers()
    transaction.rolledBack()
    guard connection.isInTransaction else { return }
    // If even this fails, the next BEGIN says so to whoever writes then.
    try? connection.execute("ROLLBACK")
  }
}

/// What is counted of the batches that are made durable.
enum CommitMetrics {
  // Looked up once: the writer's thread is the one that everybody waits for.
  private static let seconds = Timer(label: "entitled_store_commit_seconds")
  private static let writes = Recorder(label: "entitled_store_commit_writes")
  private static let failures = Counter(label: "entitled_store_commit_failures_total")
  private static let isWritable = Gauge(label: "entitled_store_writable")
  private static let queue = Gauge(label: "entitled_store_writes_queued")

  /// Counts a batch of so many writes.
  static func count(_ count: Int, duration: Duration, hasFailed: Bool) {
    let (whole, attoseconds) = duration.components
    seconds.recordNanoseconds(whole * 1_000_000_000 + attoseconds / 1_000_000_000)
    writes.record(count)
    isWritable.record(hasFailed ? 0 : 1)
    if hasFailed { failures.increment() }
  }

  /// Tells how many writes wait behind the batch that begins.
  static func waiting(_ count: Int) { queue.record(count) }
}
