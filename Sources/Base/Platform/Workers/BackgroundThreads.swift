internal import Dispatch
internal import Glibc
internal import Synchronization

/// A number of threads with background priority (``ThreadPriority``), which run work in the order of its arrival.
///
/// Dedicated threads, because a thread keeps its priority: on a thread of Swift's or Dispatch's pool, later
/// work would have it too, such as a health probe. Tasks that prefer this executor run here.
///
/// A thread starts when it is first needed, and ends when the object is released and no work is left.
package final class BackgroundThreads: TaskExecutor {
  /// The threads of calls and workers, one for each core that the process may use.
  package static let shared = BackgroundThreads(count: AvailableCores.count)

  private let queue: WorkQueue

  package init(count: Int) { queue = WorkQueue(maxThreads: count) }

  deinit { queue.close() }

  /// Runs `work` on one of the threads. If no thread can be started, it waits until a later call starts one.
  package func async(_ work: @escaping @Sendable () -> Void) { queue.add(work) }

  /// Runs `work` once no other work waits, or after a few more pieces of it: for work that should be collected, such as
  /// what wakes a thread that takes precedence. To be called from work on these threads.
  package func whenIdle(_ work: @escaping @Sendable () -> Void) { queue.addWhenIdle(work) }

  /// Runs `work` on one of the threads, and waits for its end.
  package func sync(_ work: @escaping @Sendable () -> Void) {
    let end = DispatchSemaphore(value: 0)
    queue.add {
      work()
      end.signal()
    }
    end.wait()
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.add { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// Starts a thread with background priority that runs `body` and ends.
///
/// - Returns: the error number of the system, such as `EAGAIN` at a limit of threads; `nil` if the thread started.
package func startBackgroundThread(_ body: @escaping @Sendable () -> Void) -> CInt? {
  let body = Unmanaged.passRetained(ThreadBody(run: body))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, nil,
    { body in
      guard let body else { return nil }
      ThreadPriority.setBackground()
      Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
      return nil
    }, body.toOpaque())
  guard result == 0 else {
    body.release()
    return result
  }
  pthread_detach(thread)
  return nil
}

/// Carries a closure through a C pointer.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(run: @escaping @Sendable () -> Void) { self.run = run }
}

/// The work and its threads, which outlive the ``BackgroundThreads`` until the work is done.
private final class WorkQueue: Sendable {
  typealias Work = @Sendable () -> Void

  private struct State: ~Copyable {
    /// New work, oldest first.
    var arrived: [Work] = []
    /// Older work, oldest last.
    var next: [Work] = []
    /// Work for the time when no other work waits.
    var deferred: [Work] = []
    /// The pieces of work that were taken since the first of `deferred` was added.
    var takenBeforeDeferred = 0
    var threads = 0
    /// The threads that wait for a signal.
    var idle = 0
    var isClosed = false

    /// Takes the oldest work. Deferred work is taken together, at the latest after ``maxWorkBeforeDeferred`` others.
    mutating func take() -> Work? {
      if next.isEmpty {
        next = arrived.reversed()
        arrived.removeAll(keepingCapacity: true)
      }
      guard !deferred.isEmpty else { return next.popLast() }
      if takenBeforeDeferred < WorkQueue.maxWorkBeforeDeferred, let work = next.popLast() {
        takenBeforeDeferred += 1
        return work
      }
      takenBeforeDeferred = 0
      let all = deferred
      deferred.removeAll()
      return { for work in all { work() } }
    }
  }

  /// The maximum number of pieces of work for which deferred work waits.
  private static let maxWorkBeforeDeferred = 8

  private let maxThreads: Int
  private let state = Mutex(State())
  private let signals = DispatchSemaphore(value: 0)

  init(maxThreads: Int) { self.maxThreads = maxThreads }

  func add(_ work: @escaping Work) {
    add { state in
      state.arrived.append(work)
      return true
    }
  }

  /// A thread that runs work takes the deferred work after it.
  func addWhenIdle(_ work: @escaping Work) {
    add { state in
      state.deferred.append(work)
      return state.threads == state.idle
    }
  }

  /// Adds work by `append`, which returns whether a thread has to be woken or started for it.
  private func add(_ append: (inout State) -> Bool) {
    enum Decision { case wake, start, wait }
    let decision: Decision = state.withLock { state in
      guard append(&state) else { return .wait }
      if state.idle > 0 {
        state.idle -= 1
        return .wake
      }
      guard state.threads < maxThreads else { return .wait }
      state.threads += 1
      return .start
    }
    switch decision {
    case .wake: signals.signal()
    case .start: startThread()
    case .wait: break
    }
  }

  /// Ends the threads once they have done all work.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = 0 }
      return state.idle
    }
    for _ in 0..<idle { signals.signal() }
  }

  private func startThread() {
    guard startBackgroundThread({ self.run() }) != nil else { return }
    state.withLock { $0.threads -= 1 }
  }

  /// Runs one thread.
  private func run() {
    while true {
      enum Decision { case work(Work), wait, end }
      let decision: Decision = state.withLock { state in
        if let work = state.take() { return .work(work) }
        guard !state.isClosed else { return .end }
        state.idle += 1
        return .wait
      }
      switch decision {
      case .work(let work): work()
      case .wait: signals.wait()
      case .end: return
      }
    }
  }
}
