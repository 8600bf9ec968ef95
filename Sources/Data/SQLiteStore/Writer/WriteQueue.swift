internal import Dispatch
internal import Platform
internal import SQLite
internal import Store
internal import Synchronization

/// The writes that wait, and the one thread at a time that works them off in batches.
///
/// Whatever arrives while a batch is being made durable is the next batch: the busier it is, the more
/// writes share one flush of the disk.
final class WriteQueue: Sendable {
  private struct State: ~Copyable {
    var waiting: [WriteJob] = []
    var isWorking = false
    var isClosed = false
    /// Why the last batch was not made durable.
    var lastFailure: StoreError?
  }

  private let state = Mutex(State())
  /// Tells who follows the store.
  let commits = CommitNotifier()
  private let worker: Worker
  private let thread = DispatchQueue(label: "entitled.store.writer", qos: .utility)
  private let capacity: Int
  private let batchSize: Int

  /// A queue of at most `capacity` writes, at most `batchSize` of them made durable at once; `changes` is
  /// told of them; `hash` as in ``CustomerRow``.
  init(
    path: String, capacity: Int, batchSize: Int, changes: CustomerVersions,
    hash: @escaping CustomerIdentity.Hash
  ) throws(StoreError) {
    worker = try Worker(path: path, changes: changes, hash: hash)
    self.capacity = capacity
    self.batchSize = batchSize
  }

  /// Why the last batch was not made durable; `nil` if it was.
  var lastFailure: StoreError? { state.withLock { $0.lastFailure } }

  /// Takes a job, or refuses it at once.
  func add(_ job: WriteJob) {
    enum Decision { case refuse(StoreError), wait, start }
    let decision: Decision = state.withLock { state in
      guard !state.isClosed else { return .refuse(.closed) }
      guard state.waiting.count < capacity else {
        return .refuse(.overloaded(waiting: state.waiting.count))
      }
      state.waiting.append(job)
      guard !state.isWorking else { return .wait }
      state.isWorking = true
      return .start
    }
    switch decision {
    case .refuse(let error): job.refuse(error)
    case .wait: break
    case .start: thread.async { self.work() }
    }
  }

  /// Takes no more, and returns when what was taken is done.
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

  private func work() {
    ThreadPriority.setBackground()
    while let batch = nextBatch() {
      let start = ContinuousClock.now
      let failure = worker.write(batch)
      CommitMetrics.count(batch.count, duration: ContinuousClock.now - start, hasFailed: failure != nil)
      if failure == nil { commits.send() }
      state.withLock { $0.lastFailure = failure }
      worker.tidy()
    }
  }

  private func nextBatch() -> [WriteJob]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isWorking = false
        return nil
      }
      let batch = Array(state.waiting.prefix(batchSize))
      state.waiting.removeFirst(batch.count)
      CommitMetrics.waiting(state.waiting.count)
      return batch
    }
  }
}

/// The connection that writes.
private final class Worker: @unchecked Sendable {
  // Unchecked: after `init` it is touched by the queue's serial thread only.
  private var open: (connection: Connection, writer: BatchWriter)?
  private let checkpointer: Checkpointer

  init(
    path: String, changes: CustomerVersions, hash: @escaping CustomerIdentity.Hash
  ) throws(StoreError) {
    let connection = try Connection.writer(path: path)
    try Schema.create(connection)
    open = (connection, try BatchWriter(connection, changes: changes, hash: hash))
    checkpointer = try Checkpointer(path: path)
    connection.leaveCheckpointsToOwner()
  }

  func write(_ batch: [WriteJob]) -> StoreError? {
    if let open { return open.writer.write(batch) }
    for job in batch { job.refuse(.closed) }
    return .closed
  }

  /// What is to be done between two batches.
  func tidy() {
    if let open { checkpointer.follow(open.connection) }
  }

  func close() {
    checkpointer.close()
    // So that the file has all and can be copied. Where somebody still reads, the log keeps what is not copied.
    try? open?.connection.truncateWAL()
    open = nil
  }
}

/// Tells any number of listeners that something was committed.
final class CommitNotifier: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var last = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Hears of every commit from now on, of those that come while it is busy once.
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

  func send() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  /// There will be no more.
  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
