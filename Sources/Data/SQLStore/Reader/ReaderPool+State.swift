internal import Dispatch
internal import Platform
internal import Store

extension ReaderPool {
  /// The sizes of a pool.
  package struct Limits: Sendable {
    /// The maximum number of queued reads of each priority.
    var capacity: Int
    /// The maximum number of interactive and background reads that run at the same time, at least 2.
    var concurrency: Int

    /// The default of `concurrency` is the number of cores that the process may use.
    package init(capacity: Int = 1024, concurrency: Int = max(2, AvailableCores.count)) {
      self.capacity = capacity
      self.concurrency = concurrency
    }
  }

  /// The queue, the running reads and the threads of a pool; its lock guards them.
  struct State: ~Copyable {
    /// Indexed by priority.
    var waiting = [[ReadJob]](repeating: [], count: ReadPriority.allCases.count)
    /// Indexed by priority.
    var running = [Int](repeating: 0, count: ReadPriority.allCases.count)
    /// The controls of the running jobs, so that ``stop()`` can stop them.
    var controls: [ObjectIdentifier: ReadControl] = [:]
    /// The semaphores of the threads that wait for a job.
    var idle: [DispatchSemaphore] = []
    /// The number of threads that have not ended.
    var threadCount = 0
    var isClosed = false
    /// The callers of ``ReaderPool/close()``.
    var closeWaiters: [CheckedContinuation<Void, Never>] = []
    /// The deadline that the timer is set to.
    var timerDeadline: ContinuousClock.Instant?
    /// The first error of a thread that could not start or open its reader.
    var openFailure: StoreError?
  }
}

extension ReaderPool.Limits {
  /// One more than the reads of lower priority need, for ``ReadPriority/check``.
  var threadCount: Int { concurrency + 1 }

  /// Whether a read of `priority` may start. `running` is the number of running reads, indexed by priority.
  func allows(_ priority: ReadPriority, _ running: [Int]) -> Bool {
    let (background, interactive) = (running[0], running[0] + running[1])
    let all = interactive + running[2]
    return switch priority {
    case .background: background < concurrency - 1 && interactive < concurrency && all < threadCount
    case .interactive: interactive < concurrency && all < threadCount
    case .check: all < threadCount
    }
  }
}

extension ReaderPool.State {
  /// Removes and returns the queued jobs that match.
  mutating func removeWaiting(_ isRemoved: (ReadJob) -> Bool) -> [ReadJob] {
    var removed: [ReadJob] = []
    for index in waiting.indices {
      removed += waiting[index].filter(isRemoved)
      waiting[index].removeAll(where: isRemoved)
    }
    return removed
  }

  mutating func finished(_ job: ReadJob) {
    running[job.priority.rawValue] -= 1
    controls[ObjectIdentifier(job.control)] = nil
  }

  /// Decrements the thread count.
  ///
  /// - Returns: the callers of ``ReaderPool/close()`` to resume.
  mutating func threadEnded() -> [CheckedContinuation<Void, Never>] {
    threadCount -= 1
    guard threadCount == 0 else { return [] }
    defer { closeWaiters = [] }
    return closeWaiters
  }

  /// Sets the timer to the deadline of a queued job, if it is the earliest.
  ///
  /// - Returns: the deadline to start the timer for; `nil` if the timer is already set to an earlier one.
  mutating func setTimer(for job: ReadJob) -> ContinuousClock.Instant? {
    guard let deadline = job.control.deadline, timerDeadline.map({ deadline < $0 }) ?? true else {
      return nil
    }
    timerDeadline = deadline
    return deadline
  }
}
