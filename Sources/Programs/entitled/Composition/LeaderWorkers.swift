internal import Logging
internal import Platform
internal import Services
internal import Store

/// Runs the workers that write while this process is the leader, each time it becomes it. When it no longer leads, the
/// workers are cancelled; they export their gauges as 0 then.
struct LeaderWorkers: Worker {
  let name = "leader"
  let runsInBackground = false
  /// Calls back for each term as the leader.
  let leadership: Leadership
  /// Runs ``workers`` until this process no longer leads.
  let supervisor: WorkerSupervisor
  /// The loops that write or call Apple.
  let workers: [any Worker]
  /// Prepares the store for these workers and for calls.
  let prepare: @Sendable () async throws -> Void
  let logger: Logger

  func run() async {
    await leadership.run {
      do {
        try await prepare()
      } catch {
        logger.error("preparation of the leader failed, will retry", metadata: ["error": "\(error)"])
        throw error
      }
    } lead: {
      logger.notice("took over as leader", metadata: ["epoch": "\(leadership.epoch ?? 0)"])
      await supervisor.run(workers)
      logger.notice("no longer the leader")
    }
  }
}

/// A loop of the store that runs in every replica.
struct ReplicaLoop: Worker {
  let name = "replica"
  let runsInBackground = false
  private let worker: any ReplicaWorker

  init(_ worker: any ReplicaWorker) { self.worker = worker }

  func run() async { await worker.run() }
}
