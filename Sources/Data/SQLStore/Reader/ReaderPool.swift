internal import Dispatch
internal import Platform
package import Store
internal import Synchronization
internal import Telemetry
internal import Tracing

/// Runs reads on a bounded number of threads, each with its own connection.
///
/// ``open()`` creates the threads and their connections, so that a shortage of either shows at start; a thread whose
/// connection failed opens it with its next read. One thread is reserved for ``ReadPriority/check``, and at least one
/// other thread for interactive reads, so that a long read of low priority never blocks one of higher priority. Queued
/// reads start by priority, then by age.
package final class ReaderPool: Sendable {
  private let state = Mutex(State())
  private let timer = DispatchQueue(label: "entitled.store.read-deadlines")
  /// Signalled by each thread after it tried to open its reader.
  private let startup = DispatchSemaphore(value: 0)
  private let limits: Limits
  private let makeReader: @Sendable () throws(StoreError) -> SQLReader

  /// Creates a pool whose threads read through the results of `makeConnection`. `changes` are those of the store's
  /// writer, `hash` is that of ``CustomerRow``.
  package init(
    _ limits: Limits = Limits(), changes: CustomerVersions = CustomerVersions(),
    hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash,
    makeConnection: @escaping @Sendable () throws(StoreError) -> any SQLConnection
  ) {
    self.limits = limits
    let reportKeys = ReportKeyCache()
    makeReader = { () throws(StoreError) in
      try SQLReader(makeConnection(), changes: changes, hash: hash, reportKeys: reportKeys)
    }
  }

  /// Starts all threads, and waits until each has its reader. Must be called before the first read, if at all.
  ///
  /// - Throws: the error of a thread that has none; the pool is then stopped.
  package func open() throws(StoreError) {
    let count = limits.threadCount
    state.withLock { $0.threadCount = count }
    for _ in 0..<count { startThread() }
    for _ in 0..<count { startup.wait() }
    guard let failure = state.withLock({ $0.openFailure }) else { return }
    stop()
    throw failure
  }

  /// Implements ``EntitlementStore/read(_:deadline:_:)``.
  package func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await traced("store.read") { span throws(StoreError) in
      guard let span else { return try await run(priority, deadline: deadline, body) }
      return try await run(priority, deadline: deadline) { snapshot throws(StoreError) in
        // The time before it is the wait for a reader.
        span.addEvent("snapshot")
        return try body(snapshot)
      }
    }
  }

  /// Queues a read and waits for it. Cancelling the task ends it: a queued one does not run, and a running one is
  /// interrupted.
  private func run<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let control = ReadControl(deadline: deadline)
    let result: Result<Value, StoreError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        add(ReadJob(priority, control, body) { continuation.resume(returning: $0) })
      }
    } onCancel: {
      cancel(control)
    }
    return try result.get()
  }

  /// Rejects queued reads and stops running ones, without waiting for them.
  package func stop() {
    let (rejected, idle) = state.withLock { state in
      state.isClosed = true
      for control in state.controls.values { control.stop(.closed) }
      let (rejected, idle) = (state.waiting.flatMap { $0 }, state.idle)
      for index in state.waiting.indices { state.waiting[index] = [] }
      state.idle = []
      return (rejected, idle)
    }
    for job in rejected { job.reject(.closed) }
    for thread in idle { thread.signal() }
  }

  /// Stops all reads and waits until every thread has ended.
  package func close() async {
    stop()
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.threadCount > 0 { state.closeWaiters.append(continuation) }
        return state.threadCount == 0
      }
      if isDone { continuation.resume() }
    }
  }

  // MARK: Queue

  /// The step of ``add(_:)`` after it released the lock.
  private enum Decision {
    case reject(StoreError)
    case wait(timer: ContinuousClock.Instant?)
    case wake(DispatchSemaphore)
    case startThread
  }

  /// Queues a job and wakes or starts a thread for it, or rejects it.
  private func add(_ job: ReadJob) {
    let decision: Decision = state.withLock { state in
      guard !state.isClosed else { return .reject(.closed) }
      if let reason = job.control.stopReason { return .reject(reason) }
      let count = state.waiting[job.priority.rawValue].count
      guard count < limits.capacity else { return .reject(.overloaded(waiting: count)) }
      state.waiting[job.priority.rawValue].append(job)
      guard limits.allows(job.priority, state.running) else {
        return .wait(timer: state.setTimer(for: job))
      }
      if let thread = state.idle.popLast() { return .wake(thread) }
      // A thread that is about to take a job finds this one.
      guard state.threadCount < limits.threadCount else { return .wait(timer: state.setTimer(for: job)) }
      state.threadCount += 1
      return .startThread
    }
    switch decision {
    case .reject(let error): job.reject(error)
    case .wait(let deadline): if let deadline { startTimer(deadline) }
    case .wake(let thread): thread.signal()
    case .startThread: startThread()
    }
  }

  /// Removes a queued job, or stops a running one.
  private func cancel(_ control: ReadControl) {
    let removed = state.withLock { state in
      // Holding the lock guarantees that either `add` sees the cancellation, or the job is already queued or
      // running.
      control.stop(.cancelled)
      return state.removeWaiting { $0.control === control }
    }
    for job in removed { job.reject(.cancelled) }
  }

  // MARK: Deadlines of queued reads

  /// Expires queued jobs at `deadline`. A later call replaces the earlier one, which then finds nothing to
  /// do.
  private func startTimer(_ deadline: ContinuousClock.Instant) {
    let (seconds, attoseconds) = (deadline - .now).components
    let nanoseconds = max(0, Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
    timer.asyncAfter(deadline: .now() + .nanoseconds(Int(min(nanoseconds, 1e18)))) { [weak self] in
      self?.expire(at: deadline)
    }
  }

  /// Rejects the queued jobs whose deadline passed, and sets the timer to the next deadline.
  private func expire(at deadline: ContinuousClock.Instant) {
    let (expired, next) = state.withLock { state -> ([ReadJob], ContinuousClock.Instant?) in
      guard state.timerDeadline == deadline else { return ([], nil) }
      let now = ContinuousClock.now
      let expired = state.removeWaiting { job in job.control.deadline.map { $0 <= now } ?? false }
      state.timerDeadline = state.waiting.joined().compactMap(\.control.deadline).min()
      return (expired, state.timerDeadline)
    }
    for job in expired { job.reject(.deadlineExceeded) }
    if let next { startTimer(next) }
  }

  // MARK: Threads

  /// Starts a thread; if that fails and there is no other, rejects the queued jobs.
  private func startThread() {
    // Reads may take long; the event loops take precedence.
    guard let result = startBackgroundThread({ self.work() }) else { return }
    let failure = StoreError.failed("cannot create a reader thread: error \(result)")
    // Other threads may take the queued jobs. Without any other thread, the jobs are rejected.
    let (rejected, waiters) = state.withLock { state in
      state.openFailure = state.openFailure ?? failure
      return (state.threadCount == 1 ? state.removeWaiting { _ in true } : [], state.threadEnded())
    }
    startup.signal()
    for job in rejected { job.reject(failure) }
    for waiter in waiters { waiter.resume() }
  }

  /// Runs one thread: takes jobs until the pool closes.
  private func work() {
    let wakeUp = DispatchSemaphore(value: 0)
    var reader: SQLReader?
    do throws(StoreError) {
      reader = try makeReader()
    } catch {
      state.withLock { $0.openFailure = $0.openFailure ?? error }
    }
    startup.signal()
    while true {
      switch next(wakeUp) {
      case .end:
        // The reader closes before the thread counts as ended, because the caller of `close` may delete the
        // file.
        reader = nil
        let waiters = state.withLock { $0.threadEnded() }
        for waiter in waiters { waiter.resume() }
        return
      case .wait: wakeUp.wait()
      case .run(let job):
        do throws(StoreError) {
          let open = if let reader { reader } else { try makeReader() }
          reader = open
          job.run(open)
        } catch {
          job.reject(error)
        }
        state.withLock { $0.finished(job) }
      }
    }
  }

  /// The next step of a thread.
  private enum Step {
    case run(ReadJob), wait, end
  }

  /// Takes the oldest job of the highest priority that may run.
  private func next(_ thread: DispatchSemaphore) -> Step {
    state.withLock { state in
      guard !state.isClosed else { return .end }
      for priority in ReadPriority.allCases.reversed()
      where !state.waiting[priority.rawValue].isEmpty && limits.allows(priority, state.running) {
        let job = state.waiting[priority.rawValue].removeFirst()
        state.running[priority.rawValue] += 1
        state.controls[ObjectIdentifier(job.control)] = job.control
        return .run(job)
      }
      state.idle.append(thread)
      return .wait
    }
  }
}
