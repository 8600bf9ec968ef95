package import Logging
internal import Metrics

/// A long-running background loop, run by a ``WorkerSupervisor``.
package protocol Worker: Sendable {
  /// The name in logs and metrics, such as `expiry`.
  var name: String { get }

  /// Whether it runs on ``BackgroundThreads``; true unless health probes depend on it.
  var runsInBackground: Bool { get }

  /// Works until the task is cancelled or no work can follow.
  ///
  /// - Throws: an error after which a new call of `run()` may succeed.
  func run() async throws
}

extension Worker {
  /// A worker runs on ``BackgroundThreads`` unless it states otherwise.
  package var runsInBackground: Bool { true }
}

/// Runs workers. A worker that throws is restarted after a delay, which doubles with each failure in a row.
package struct WorkerSupervisor: Sendable {
  /// The delays between restarts.
  package struct Backoff: Hashable, Sendable {
    /// The delay after the first failure; each further one doubles it.
    package var first: Duration
    /// The longest delay.
    package var max: Duration
    /// A worker that ran for at least this time before it failed starts again with ``first``.
    package var resetAfter: Duration

    /// The delays of every worker of the service.
    package static let standard = Backoff(first: .seconds(1), max: .seconds(15), resetAfter: .seconds(60))
  }

  private let logger: Logger
  private let backoff: Backoff
  private let now: @Sendable () -> ContinuousClock.Instant
  private let sleep: @Sendable (Duration) async throws -> Void

  /// A supervisor that logs to `logger`. `now` and `sleep` are the clock of the backoff; tests replace them.
  package init(
    logger: Logger, backoff: Backoff = .standard,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.logger = logger
    self.backoff = backoff
    self.now = now
    self.sleep = sleep
  }

  /// Runs all workers concurrently until each has returned or the task is cancelled.
  package func run(_ workers: [any Worker]) async {
    await withTaskGroup(of: Void.self) { group in
      for worker in workers {
        let threads = worker.runsInBackground ? BackgroundThreads.shared : nil
        group.addTask(executorPreference: threads) { await run(worker) }
      }
    }
  }

  /// Runs one worker until it returns or the task is cancelled. Each restart is logged and counted in
  /// `entitled_worker_restarts_total`.
  package func run(_ worker: any Worker) async {
    var delay = backoff.first
    while !Task.isCancelled {
      let start = now()
      do {
        return try await worker.run()
      } catch {
        // A cancelled worker may throw any error.
        guard !Task.isCancelled else { return }
        if now() - start >= backoff.resetAfter { delay = backoff.first }
        Counter(label: "entitled_worker_restarts_total", dimensions: [("worker", worker.name)]).increment()
        logger.error(
          "worker failed, will restart",
          metadata: ["worker": "\(worker.name)", "error": "\(error)", "delay": "\(delay)"])
      }
      guard (try? await sleep(delay)) != nil else { return }
      delay = min(delay * 2, backoff.max)
    }
  }
}
