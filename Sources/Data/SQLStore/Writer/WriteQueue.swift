package import Platform
package import Store
internal import Synchronization
internal import Telemetry
internal import Tracing

/// Queues writes and runs them in batches on one serial thread.
///
/// The writes that arrive during a commit form the next batch, so the number of writes in each sync to disk
/// grows with the load.
package final class WriteQueue: Sendable {
  private struct State: ~Copyable {
    var waiting: [WriteJob] = []
    /// Whether the writer thread runs or is about to run.
    var isWorking = false
    var isClosed = false
    /// The error of the last batch; `nil` if its commit succeeded.
    var lastFailure: StoreError?

    /// Removes and returns the oldest writes.
    mutating func take(_ limit: Int) -> [WriteJob] {
      let jobs = Array(waiting.prefix(limit))
      waiting.removeFirst(jobs.count)
      CommitMetrics.waiting(waiting.count)
      return jobs
    }
  }

  private let state = Mutex(State())
  /// Notifies listeners of commits.
  package let commits = Signal()
  private let writer: any StoreWriter
  private let thread = BackgroundThreads(count: 1)
  private let capacity: Int
  private let batchSize: Int

  /// Creates a queue of at most `capacity` writes. `writer` commits at most `batchSize` of them together.
  package init(_ writer: any StoreWriter, capacity: Int, batchSize: Int) {
    self.writer = writer
    self.capacity = capacity
    self.batchSize = batchSize
  }

  /// The error of the last batch; `nil` if its commit succeeded.
  package var lastFailure: StoreError? { state.withLock { $0.lastFailure } }

  /// Implements ``EntitlementStore/write(expecting:_:)``.
  package func write<Outcome: Sendable>(
    expecting expected: ExpectedReads = ExpectedReads(),
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    try await traced("store.write") { span throws(StoreError) in
      try await enqueue(expecting: expected) { transaction throws(StoreError) in
        // The time before it is the wait for the batch, the time after it the commit.
        span?.addEvent("transaction")
        return try body(transaction)
      }
    }
  }

  /// Implements ``EntitlementStore/dryRun(_:)``.
  package func dryRun<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    let outcome: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      add(
        .dryRun({ transaction throws(StoreError) in try body(transaction) }) {
          continuation.resume(returning: $0)
        })
    }
    return try outcome.get()
  }

  /// Runs `body` on the writer's thread, after the writes that were queued before.
  package func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      thread.async { continuation.resume(returning: body()) }
    }
  }

  /// Replaces filler to test whether writing works.
  package func probe() async throws(StoreError) {
    try await enqueue { transaction throws(StoreError) in try transaction.probe() }
  }

  /// Queues a body that may need more than the protocol.
  private func enqueue<Outcome: Sendable>(
    expecting expected: ExpectedReads = ExpectedReads(),
    _ body: @escaping @Sendable (SQLTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    let outcome: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      add(WriteJob(expecting: expected, body) { continuation.resume(returning: $0) })
    }
    return try outcome.get()
  }

  /// Queues a job, or rejects it at once if the queue is full or closed.
  func add(_ job: WriteJob) {
    enum Decision { case reject(StoreError), wait, start }
    let decision: Decision = state.withLock { state in
      guard !state.isClosed else { return .reject(.closed) }
      guard state.waiting.count < capacity else {
        return .reject(.overloaded(waiting: state.waiting.count))
      }
      state.waiting.append(job)
      guard !state.isWorking else { return .wait }
      state.isWorking = true
      return .start
    }
    switch decision {
    case .reject(let error): job.reject(error)
    case .wait: break
    case .start: thread.async { self.work() }
    }
  }

  /// Rejects the writes that wait, because the database does not answer.
  package func rejectWaiting(_ error: StoreError) {
    for job in state.withLock({ $0.take(.max) }) { job.reject(error) }
  }

  /// Rejects further writes and waits for the queued ones.
  package func close() async {
    state.withLock { $0.isClosed = true }
    commits.finish()
    await withCheckedContinuation { done in
      thread.async {
        self.writer.close()
        done.resume()
      }
    }
  }

  /// Removes the remnants of erased rows, and tries again each second while a reader prevents it.
  package func purgeRemnants() async -> Bool {
    await withCheckedContinuation { done in
      thread.async {
        let isDone = self.writer.purgeRemnants()
        if !isDone { self.retryPurge() }
        done.resume(returning: isDone)
      }
    }
  }

  private func retryPurge() {
    Task {
      try? await Task.sleep(for: .seconds(1))
      thread.async {
        guard !self.state.withLock({ $0.isClosed }), !self.writer.finishPurge() else { return }
        self.retryPurge()
      }
    }
  }

  /// Writes batches until the queue is empty. Runs on the writer thread.
  private func work() {
    while let batch = nextBatch() {
      let start = ContinuousClock.now
      var room = batchSize - batch.count
      let (count, failure) = writer.write(batch) {
        let arrived = takeWaiting(room)
        room -= arrived.count
        return arrived
      }
      putBack(batch.dropFirst(count))
      let end = ContinuousClock.now
      CommitMetrics.count(count, duration: end - start, hasFailed: failure != nil)
      if failure == nil { commits.send() }
      state.withLock { $0.lastFailure = failure }
      writer.maintain()
    }
  }

  /// Takes the next batch; `nil` ends the work and lets the next ``add(_:)`` start it again.
  private func nextBatch() -> [WriteJob]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isWorking = false
        return nil
      }
      return state.take(batchSize)
    }
  }

  /// Queues the writes for which a batch had no time, before all others.
  private func putBack(_ jobs: ArraySlice<WriteJob>) {
    guard !jobs.isEmpty else { return }
    state.withLock { $0.waiting.insert(contentsOf: jobs, at: 0) }
  }

  /// Takes at most `limit` queued writes.
  private func takeWaiting(_ limit: Int) -> [WriteJob] { state.withLock { $0.take(limit) } }
}

/// The writer's connection of one engine, and its upkeep. After its creation only the queue's serial thread uses it.
package protocol StoreWriter: Sendable {
  /// Commits a batch, or its first part, as ``BatchWriter/write(_:joinedBy:)``.
  func write(
    _ batch: [WriteJob], joinedBy arrived: () -> [WriteJob]
  ) -> (count: Int, failure: StoreError?)

  /// Runs the maintenance between two batches.
  func maintain()

  /// Removes the remnants of erased rows. Returns whether nothing is left.
  func purgeRemnants() -> Bool

  /// Removes what the last ``purgeRemnants()`` left, without waiting. Returns whether nothing is left.
  func finishPurge() -> Bool

  func close()
}

extension StoreWriter {
  /// Nothing is left, unless the engine says otherwise.
  package func purgeRemnants() -> Bool { true }
  package func finishPurge() -> Bool { true }
}
