internal import Platform
internal import SQLite
internal import Store
internal import Synchronization

/// Queues writes and runs them in batches on one serial thread.
///
/// The writes that arrive during a commit form the next batch, so the number of writes in each sync to disk
/// grows with the load.
final class WriteQueue: Sendable {
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
  let commits = CommitNotifier()
  private let worker: WriterConnection
  private let thread = BackgroundThreads(count: 1)
  private let capacity: Int
  private let batchSize: Int

  /// Creates a queue of at most `capacity` writes, which commits at most `batchSize` of them together and
  /// records them in `changes`. `hash` is that of ``CustomerRow``; `maxRejectedBytes` that of ``EvidenceRows``.
  ///
  /// - Throws: `missing` if the database is empty; `nil` creates its tables.
  init(
    path: String, capacity: Int, batchSize: Int, changes: CustomerVersions, ifEmpty missing: StoreError?,
    hash: @escaping CustomerIdentity.Hash, maxRejectedBytes: Int64
  ) throws(StoreError) {
    worker = try WriterConnection(
      path: path, changes: changes, ifEmpty: missing, hash: hash, maxRejectedBytes: maxRejectedBytes)
    self.capacity = capacity
    self.batchSize = batchSize
  }

  /// The error of the last batch; `nil` if its commit succeeded.
  var lastFailure: StoreError? { state.withLock { $0.lastFailure } }

  /// The file of the store that was removed or replaced; `nil` if all are in place.
  var removedFile: String? { worker.files.removed }

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

  /// Rejects further writes and waits for the queued ones.
  func close() async {
    state.withLock { $0.isClosed = true }
    commits.finish()
    await withCheckedContinuation { done in
      thread.async {
        self.worker.close()
        done.resume()
      }
    }
  }

  /// Removes the remnants of erased rows, and tries again each second while a reader prevents it.
  func purgeRemnants() async -> Bool {
    await withCheckedContinuation { done in
      thread.async {
        let isDone = self.worker.purgeRemnants()
        if !isDone { self.retryPurge() }
        done.resume(returning: isDone)
      }
    }
  }

  private func retryPurge() {
    Task {
      try? await Task.sleep(for: .seconds(1))
      thread.async {
        guard !self.state.withLock({ $0.isClosed }), !self.worker.emptyLog() else { return }
        self.retryPurge()
      }
    }
  }

  /// Writes batches until the queue is empty. Runs on the writer thread.
  private func work() {
    while let batch = nextBatch() {
      let start = ContinuousClock.now
      var room = batchSize - batch.count
      let (count, failure) = worker.write(batch) {
        let arrived = takeWaiting(room)
        room -= arrived.count
        return arrived
      }
      let end = ContinuousClock.now
      CommitMetrics.count(count, duration: end - start, hasFailed: failure != nil)
      worker.diskFull.record(failure, at: end)
      if failure == nil { commits.send() }
      state.withLock { $0.lastFailure = failure }
      worker.maintain()
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

  /// Takes at most `limit` queued writes.
  private func takeWaiting(_ limit: Int) -> [WriteJob] { state.withLock { $0.take(limit) } }
}

/// Owns the writer's connection.
// Unchecked: after `init` only the queue's serial thread uses it.
private final class WriterConnection: @unchecked Sendable {
  private var open: (connection: Connection, writer: BatchWriter)?
  private let checkpointer: Checkpointer
  /// The files to which this connection writes.
  let files: OpenStoreFiles
  var diskFull: DiskFullLog
  /// A store up to this size, in bytes, is rewritten after an erasure: that takes a second or two.
  private static let maxRewrittenBytes: Int64 = 128 << 20

  init(
    path: String, changes: CustomerVersions, ifEmpty missing: StoreError?,
    hash: @escaping CustomerIdentity.Hash, maxRejectedBytes: Int64
  ) throws(StoreError) {
    let connection = try Connection.writer(path: path)
    try Schema.create(connection, unless: missing)
    // A process that was killed after an erasure left a log with the erased rows.
    _ = try? connection.truncateWAL()
    let writer = try BatchWriter(
      connection, changes: changes, hash: hash, maxRejectedBytes: maxRejectedBytes)
    open = (connection, writer)
    checkpointer = try Checkpointer(path: path)
    connection.disableAutomaticCheckpoints()
    files = OpenStoreFiles(database: path)
    diskFull = DiskFullLog(path: path)
  }

  /// Commits a batch, as ``BatchWriter/write(_:joinedBy:)``.
  func write(
    _ batch: [WriteJob], joinedBy arrived: () -> [WriteJob]
  ) -> (count: Int, failure: StoreError?) {
    guard let open else { return reject(batch, .closed) }
    if let path = files.removed { return reject(batch, .removed(path: path)) }
    return open.writer.write(batch, joinedBy: arrived)
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
    let size = try? connection.number(
      "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    if let size, size <= Self.maxRewrittenBytes { try? connection.execute("VACUUM") }
    return emptyLog(timeout: 500)
  }

  /// Returns whether the log is empty; waits at most `timeout` milliseconds for readers.
  func emptyLog(timeout: Int = 0) -> Bool { (try? open?.connection.truncateWAL(timeout: timeout)) == true }

  func close() {
    checkpointer.close()
    // Moves all pages into the database file, so that the file can be copied. While a reader is open, the WAL
    // keeps the pages that could not be checkpointed.
    _ = try? open?.connection.truncateWAL()
    open = nil
  }
}

/// Notifies any number of listeners of commits.
final class CommitNotifier: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var last = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Returns a stream with one element for each later commit; commits during the processing of an element add
  /// one together.
  func listen() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.last += 1
      state.listeners[state.last] = continuation
      return state.last
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [self] _ in
      state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }
    return stream
  }

  /// Emits an element to each listener that has none waiting.
  func send() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  /// Finishes all streams.
  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
