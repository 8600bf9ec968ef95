internal import Metrics
package import Store

/// Runs several writes in one transaction (group commit), so that they share one sync to disk.
///
/// Not thread-safe: ``WriteQueue`` uses it from one thread at a time.
package final class BatchWriter {
  private let connection: any SQLConnection
  private let transaction: SQLTransaction
  private let changes: CustomerVersions
  private let maxBodyTime: Duration
  private let begin: any SQLStatement
  private let commit: any SQLStatement
  private let savepoint: any SQLStatement
  private let release: any SQLStatement
  private let rollbackToSavepoint: any SQLStatement
  /// Has no effect, but a result: it makes an engine send what it deferred.
  private let touch: any SQLStatement

  /// The default limit of rejected evidence: 64 MiB a day for each app.
  package static let maxRejectedBytesPerDay: Int64 = 64 << 20

  /// `hash` is that of ``CustomerRow``; `maxRejectedBytes` that of ``EvidenceRows``. After `maxBodyTime` no further body
  /// begins in a transaction of a remote engine.
  package init(
    _ connection: any SQLConnection, changes: CustomerVersions,
    hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash,
    maxRejectedBytes: Int64 = BatchWriter.maxRejectedBytesPerDay, maxBodyTime: Duration = .seconds(1)
  ) throws(StoreError) {
    self.connection = connection
    self.changes = changes
    self.maxBodyTime = maxBodyTime
    transaction = try SQLTransaction(connection, hash: hash, maxRejectedBytes: maxRejectedBytes)
    begin = try connection.prepare(connection.dialect.beginWrite)
    commit = try connection.prepare("COMMIT")
    savepoint = try connection.prepare("SAVEPOINT body")
    release = try connection.prepare("RELEASE body")
    rollbackToSavepoint = try connection.prepare("ROLLBACK TO body")
    touch = try connection.prepare("SELECT 1")
  }

  /// Runs and commits `batch`, and delivers the results to the callers. `arrived` returns writes that were queued
  /// meanwhile; those that arrive before the commit join it, instead of waiting for it and for another one.
  ///
  /// - Returns: the number of writes, and the error that prevented their commit; `nil` if it succeeded. The last ones of
  ///   `batch` may be left for the next transaction.
  package func write(
    _ batch: [WriteJob], joinedBy arrived: () -> [WriteJob] = { [] }
  ) -> (count: Int, failure: StoreError?) {
    write(batch, joinedBy: arrived, isRepeated: false)
  }

  /// Writes a batch in one transaction, with those that arrive meanwhile. If one of them must be rolled back, all run
  /// again with a savepoint each. A batch that ended with its session, or for a lock of another one, is repeated once.
  private func write(
    _ batch: [WriteJob], joinedBy arrived: () -> [WriteJob], isRepeated: Bool
  ) -> (count: Int, failure: StoreError?) {
    var batch = batch
    var outcomes: [WriteJob.Outcome] = []
    outcomes.reserveCapacity(batch.count)
    do throws(StoreError) {
      try begin.run()
      var arrivals = batch
      var isUndone = false
      while !arrivals.isEmpty, !isUndone {
        isUndone = try !runBatch(arrivals, &outcomes)
        if connection.isRemote, !isUndone { batch.removeSubrange(outcomes.count...) }
        // A remote engine would need more round trips for them before the commit that the others wait for.
        arrivals = isUndone || connection.isRemote ? [] : arrived()
        batch += arrivals
      }
      if !isUndone { isUndone = try !commit(&outcomes) }
      if isUndone {
        try runIndividually(batch, &outcomes)
        try runCommit()
      }
      changes.committed(transaction.takeChangedCustomers())
      connection.didCommit()
      transaction.outlines.committed()
      CommitMetrics.count(droppedBodies: transaction.evidence.rejected.takeDropped())
      for outcome in outcomes { outcome.finish(nil) }
      return (batch.count, nil)
    } catch {
      abandon()
      // Nothing of it was committed, so that it can run again.
      if error.concernsTransaction, !isRepeated, connection.canRepeat {
        return write(batch, joinedBy: arrived, isRepeated: true)
      }
      for outcome in outcomes { outcome.finish(error) }
      for job in batch.dropFirst(outcomes.count) { job.reject(error) }
      return (batch.count, error)
    }
  }

  /// Runs all bodies without savepoints, which is the common case: a savepoint for each body would copy every
  /// page that later bodies change. Only dry runs need one.
  ///
  /// - Returns: `false` if a body failed. Then no writes of the batch remain.
  private func runBatch(
    _ batch: [WriteJob], _ outcomes: inout [WriteJob.Outcome]
  ) throws(StoreError) -> Bool {
    guard try fetchForBatch(batch) else { return false }
    let end = connection.isRemote ? ContinuousClock.now + maxBodyTime : nil
    for job in batch {
      // The server ends a transaction without statements, because its process may be frozen.
      if let end, !outcomes.isEmpty, end <= .now { break }
      guard !job.isDryRun else {
        outcomes.append(try runIndividually(job))
        continue
      }
      let outcome = job.run(transaction)
      guard outcome.isCommitted else {
        outcomes.removeAll(keepingCapacity: true)
        abandon()
        try begin.run()
        return false
      }
      outcomes.append(outcome)
    }
    return true
  }

  /// Fetches the rows that the bodies will read, in an engine whose reads cost a round trip.
  ///
  /// - Returns: `false` if the engine refuses that, such as a key of one of them. The transaction has begun again then.
  private func fetchForBatch(_ batch: [WriteJob]) throws(StoreError) -> Bool {
    guard connection.isRemote else { return true }
    do throws(StoreError) {
      try transaction.fetch(batch.map(\.expected))
      return true
    } catch {
      guard error.concernsStatements else { throw error }
      abandon()
      try begin.run()
      return false
    }
  }

  /// Commits a batch that ran without savepoints.
  ///
  /// - Returns: `false` if the engine reports only now that a statement of a body failed. Then no writes of the batch
  ///   remain.
  private func commit(_ outcomes: inout [WriteJob.Outcome]) throws(StoreError) -> Bool {
    do throws(StoreError) {
      try runCommit()
      return true
    } catch {
      // With one body, the error is its own.
      guard connection.isRemote, error.concernsStatements, outcomes.count > 1 else { throw error }
      outcomes.removeAll(keepingCapacity: true)
      abandon()
      try begin.run()
      return false
    }
  }

  private func runCommit() throws(StoreError) {
    try transaction.saveCached()
    connection.willCommit(transaction.changedCustomers)
    try commit.run()
  }

  /// Runs each body in its own savepoint.
  private func runIndividually(
    _ batch: [WriteJob], _ outcomes: inout [WriteJob.Outcome]
  ) throws(StoreError) {
    var (isFetched, canFetch) = (false, connection.isRemote)
    for (index, job) in batch.enumerated() {
      if canFetch, !isFetched { canFetch = try fetchInSavepoint(batch[index...]) }
      let outcome = try runIndividually(job)
      // A rollback empties the workspace.
      isFetched = outcome.isCommitted
      outcomes.append(outcome)
    }
  }

  /// Fetches the rows that the bodies will read.
  ///
  /// - Returns: `false` if the engine refuses that; each body reads for itself then, and fails alone.
  private func fetchInSavepoint(_ batch: ArraySlice<WriteJob>) throws(StoreError) -> Bool {
    try transaction.saveCached()
    try savepoint.run()
    var isFetched = true
    do throws(StoreError) {
      try transaction.fetch(batch.map(\.expected))
    } catch {
      guard error.concernsStatements else { throw error }
      isFetched = false
      try rollbackToSavepoint.run()
      transaction.rolledBack()
    }
    try release.run()
    return isFetched
  }

  /// Runs one body in its own savepoint, so that its failure does not affect the other writes of the batch.
  ///
  /// - Throws: if the transaction of the whole batch is lost.
  private func runIndividually(_ job: WriteJob) throws(StoreError) -> WriteJob.Outcome {
    try transaction.saveCached()
    try savepoint.run()
    transaction.outlines.beganSavepoint()
    let dropped = transaction.evidence.rejected.dropped
    var outcome = job.run(transaction)
    if outcome.failure == nil, connection.isRemote {
      do throws(StoreError) {
        try transaction.saveCached()
        _ = try touch.runCounting()
      } catch {
        outcome = WriteJob.Outcome(isCommitted: false, failure: error) { job.reject($0 ?? error) }
      }
    }
    if !outcome.isCommitted {
      // On a full disk the engine may have rolled back the whole transaction already.
      guard connection.isInTransaction else { throw outcome.failure ?? .failed("a transaction was lost") }
      try rollbackToSavepoint.run()
      transaction.rolledBack()
      transaction.outlines.rolledBackToSavepoint()
      transaction.evidence.rejected.rolledBack(to: dropped)
    }
    try release.run()
    return outcome
  }

  /// Rolls the batch back and discards what was cached from it.
  private func abandon() {
    _ = transaction.takeChangedCustomers()
    _ = transaction.evidence.rejected.takeDropped()
    transaction.rolledBack()
    transaction.outlines.rolledBack()
    guard connection.isInTransaction else { return }
    // If the rollback fails too, the next BEGIN reports the error to its caller.
    try? connection.execute("ROLLBACK")
  }
}

extension StoreError {
  /// Whether the same writes may succeed in another transaction: the session was lost before the commit, or the
  /// transaction met the locks of another one, such as of a migration of the tables.
  fileprivate var concernsTransaction: Bool {
    switch self {
    case .unavailable: true
    case .conflict: self != .anotherWriter
    default: false
    }
  }
}

/// The metrics of the writer.
enum CommitMetrics {
  // Created once, because a lookup would delay the writer's thread and every queued write with it.
  /// Per batch, including the sync to disk.
  private static let seconds = Timer(label: "entitled_store_commit_seconds")
  private static let writes = Recorder(label: "entitled_store_commit_writes")
  private static let failures = Counter(label: "entitled_store_commit_failures_total")
  private static let isWritable = Gauge(label: "entitled_store_writable")
  private static let queue = Gauge(label: "entitled_store_writes_queued")

  /// Records a batch of `count` writes.
  static func count(_ count: Int, duration: Duration, hasFailed: Bool) {
    let (whole, attoseconds) = duration.components
    seconds.recordNanoseconds(whole * 1_000_000_000 + attoseconds / 1_000_000_000)
    writes.record(count)
    isWritable.record(hasFailed ? 0 : 1)
    if hasFailed { failures.increment() }
  }

  /// Counts dropped bodies of rejected evidence, by app.
  static func count(droppedBodies: [String: Int]) {
    for (app, count) in droppedBodies {
      Counter(label: "entitled_rejected_bodies_dropped_total", dimensions: [("app", app)])
        .increment(by: count)
    }
  }

  /// Records the number of writes queued after the batch that begins.
  static func waiting(_ count: Int) { queue.record(count) }
}
