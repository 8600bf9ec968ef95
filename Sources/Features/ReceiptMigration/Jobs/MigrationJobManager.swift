internal import AppStore
package import Ledger
internal import Logging
internal import Platform
package import Store

/// Starts, runs and cancels migration jobs, and resumes them after a restart.
///
/// Jobs are rows of the store: one that is started while ``run()`` does not run begins with it. All jobs run at the
/// same time.
package actor MigrationJobManager: Worker {
  package nonisolated let name = "migrations"

  /// A stored job, with the state of its run.
  package struct JobStatus: Sendable {
    /// The job with its progress.
    package let job: MigrationJob
    /// The failures by reason.
    package let reasons: [MigrationReason]
    /// Lines a second, over the last 10 seconds; 0 if the job does not run.
    package let rate: Double
    /// The size of the input; 0 once it is deleted.
    package let inputBytes: Int64

    /// The id of the upload that is the input; `nil` if the input is a file of the operator.
    package var uploadID: String? {
      job.order.ownsInput ? ImportFolder.uploadID(ofPath: job.order.inputPath) : nil
    }
  }

  /// The number of receipts in flight by default: enough to be limited by Apple's rate limit, and not by the latency of
  /// two calls for each receipt.
  package static let defaultConcurrency = 32
  private static let maxConcurrency = 256
  private static let idPrefix = "migration-"
  /// The threads on which jobs read their inputs. A database or a file system that does not respond blocks them, and not
  /// those of the calls.
  private static let readers = BackgroundThreads(count: 2)

  let intake: ReceiptIntake
  let store: any EntitlementStore
  /// The folder of inputs.
  package nonisolated let folder: ImportFolder
  let logger = Logger(label: "entitled.migrations")
  private let sleep: @Sendable (Duration) async throws -> Void
  private var running: [Int64: MigrationProgress] = [:]
  /// Receives the jobs that start while ``run()`` runs.
  private var ordered: AsyncStream<MigrationJob>.Continuation?

  /// Creates a manager whose jobs submit receipts to `intake`. `sleep` waits between two attempts.
  package init(
    intake: ReceiptIntake, store: any EntitlementStore, folder: ImportFolder,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.intake = intake
    self.sleep = sleep
    self.store = store
    self.folder = folder
  }

  /// Runs jobs until the task is cancelled, beginning with those that a restart interrupted.
  ///
  /// - Throws: ``StoreError`` if the interrupted jobs cannot be read.
  package func run() async throws {
    let (orders, ordered) = AsyncStream.makeStream(of: MigrationJob.self)
    self.ordered = ordered
    defer { self.ordered = nil }
    let jobs = try await store.read { snapshot throws(StoreError) in try snapshot.runningMigrations() }
    for job in jobs { ordered.yield(job) }
    await withTaskGroup(of: Void.self) { group in
      for await job in orders {
        guard running[job.id] == nil else { continue }
        let progress = MigrationProgress()
        running[job.id] = progress
        group.addTask(executorPreference: Self.readers) { await self.process(job, progress) }
      }
      group.cancelAll()
    }
  }

  /// Runs one job to its end. A job that a failure of the store interrupts stays unfinished and runs again after a
  /// restart.
  private func process(
    _ job: MigrationJob, _ progress: MigrationProgress
  ) async {
    let run = MigrationRun(
      job, folder.source(ofInput: job.order.inputPath), intake: intake, store: store, progress: progress,
      sleep: sleep)
    do throws(StoreError) {
      try await run.run()
    } catch {
      logger.error(
        "migration job stopped", metadata: ["job": "\(Self.name(of: job.id))", "error": "\(error)"])
    }
    running[job.id] = nil
  }

  /// The idempotency key of a job, and the encoded response to its caller.
  package struct IdempotentStart: Sendable {
    /// The key with a hash of the request, so that the key cannot be reused for another one.
    let request: IdempotentRequest
    let response: @Sendable (JobStatus) -> [UInt8]

    /// `response` runs inside the write, so it must have no effect.
    package init(_ request: IdempotentRequest, response: @escaping @Sendable (JobStatus) -> [UInt8]) {
      self.request = request
      self.response = response
    }
  }

  /// The result of ``start(_:upload:_:)``.
  package enum Start: Sendable {
    /// A new job.
    case started(JobStatus)
    /// Another call with the same idempotency key started the job; this is the encoded response to it.
    case repeated([UInt8])
  }

  /// Starts a job. `order` has a path in the import folder, unless `upload` is the id of an upload. A caller that
  /// `isLimitedToApps` has only the inputs in the folder of the app.
  /// A concurrency of 0 becomes ``defaultConcurrency``; the maximum is 256.
  ///
  /// - Throws: ``MigrationError/concurrencyTooHigh(limit:)``; the errors of the input's path or of the upload's id;
  ///   ``MigrationError/ledger(_:)`` with ``LedgerError/idempotencyKeyReused``, ``LedgerError/responseErased`` or an
  ///   error of the store.
  package func start(
    _ order: MigrationJob.Order, upload: String, isLimitedToApps: Bool = false,
    _ idempotency: IdempotentStart? = nil
  ) async throws(MigrationError) -> Start {
    var order = order
    guard order.concurrency <= Self.maxConcurrency else {
      throw .concurrencyTooHigh(limit: Self.maxConcurrency)
    }
    order.concurrency = order.concurrency > 0 ? order.concurrency : Self.defaultConcurrency
    order.ownsInput = !upload.isEmpty
    order.inputPath =
      upload.isEmpty
      ? try folder.input(order.inputPath, onlyOf: isLimitedToApps ? order.appID : nil)
      : try folder.upload(upload, of: order.appID)
    let (wanted, inputBytes) = (order, folder.size(ofInput: order.inputPath) ?? 0)
    let clocks = intake.ledger.clocks
    let (instant, keyTime) = (clocks.now(in: order.environment), clocks[nil].now())
    let result = try await inStore { store throws(StoreError) -> Result<(JobStatus?, [UInt8]), LedgerError> in
      do throws(LedgerError) {
        if let request = idempotency?.request, let response = try store.response(to: request, at: keyTime) {
          return .success((nil, response))
        }
      } catch {
        return .failure(error)
      }
      let job = try store.begin(wanted, at: instant)
      let status = JobStatus(job: job, reasons: [], rate: 0, inputBytes: inputBytes)
      if let idempotency {
        try store.finish(idempotency.request, idempotency.response(status), at: keyTime)
      }
      return .success((status, []))
    }
    do throws(LedgerError) {
      let (status, response) = try result.get()
      guard let status else { return .repeated(response) }
      ordered?.yield(status.job)
      return .started(status)
    } catch {
      throw .ledger(error)
    }
  }

  /// Returns the status of a job of an app.
  ///
  /// - Throws: ``MigrationError/unknownMigration(_:)``, also for a job of another app.
  package func status(of name: String, in appID: String) async throws(MigrationError) -> JobStatus {
    try await status(of: try await job(name, of: appID))
  }

  /// Returns at most `limit` jobs of an app, latest first, before the job `id`; `nil` begins.
  ///
  /// - Throws: ``MigrationError/ledger(_:)``.
  package func jobs(
    of appID: String, before id: Int64?, limit: Int
  ) async throws(MigrationError) -> [JobStatus] {
    let jobs = try await read { snapshot throws(StoreError) in
      try snapshot.migrations(of: appID, before: id, limit: limit)
    }
    var found: [JobStatus] = []
    for job in jobs { found.append(try await status(of: job)) }
    return found
  }

  /// Returns the failed lines of a job after line `line`.
  /// Returns at most `limit`, rejected and retryable ones, by line number.
  ///
  /// - Throws: ``MigrationError/unknownMigration(_:)``.
  package func failures(
    of name: String, in appID: String, after line: Int64, limit: Int
  ) async throws(MigrationError) -> (job: MigrationJob, lines: [MigrationLine]) {
    let job = try await job(name, of: appID)
    let lines = try await read { snapshot throws(StoreError) in
      try snapshot.migrationFailures(of: job.id, after: line, limit: limit)
    }
    return (job, lines)
  }

  /// Stops a running job. A second call changes nothing.
  /// Receipts in flight may still be ingested. A job that has ended stays as it is.
  ///
  /// - Throws: ``MigrationError/unknownMigration(_:)``.
  package func cancel(_ name: String, in appID: String) async throws(MigrationError) -> JobStatus {
    let job = try await job(name, of: appID)
    let instant = intake.ledger.clocks.now(in: job.order.environment)
    if job.state == .running {
      running[job.id]?.stop()
      try await inStore { store throws(StoreError) in
        try store.end(job.id, as: .cancelled, error: "", at: instant)
      }
    }
    return try await status(of: name, in: appID)
  }

  /// Deletes the failures of a job that has ended, and its uploaded input unless another job needs that too. A second
  /// call changes nothing.
  ///
  /// - Throws: ``MigrationError/migrationRunning(_:)``.
  package func purge(_ name: String, in appID: String) async throws(MigrationError) -> JobStatus {
    let job = try await job(name, of: appID)
    guard job.state != .running else { throw .migrationRunning(name) }
    try await inStore { store throws(StoreError) in try store.purgeFailures(of: job.id) }
    if job.order.ownsInput, try await !isNeeded(job.order.inputPath, of: appID) {
      folder.delete(job.order.inputPath)
    }
    return try await status(of: name, in: appID)
  }

  /// Whether a job with this upload runs, or has failures, which are listed with their lines of the input. Callers name
  /// uploads by their content, so a dry run has the same one as the job that follows.
  private func isNeeded(_ upload: String, of appID: String) async throws(MigrationError) -> Bool {
    try await read { snapshot throws(StoreError) in
      var last: Int64?
      while true {
        let jobs = try snapshot.migrations(of: appID, before: last, limit: 100)
        for job in jobs where job.order.inputPath == upload {
          if job.state == .running { return true }
          if try !snapshot.migrationFailures(of: job.id, after: 0, limit: 1).isEmpty { return true }
        }
        guard let oldest = jobs.last else { return false }
        last = oldest.id
      }
    }
  }

  /// Returns the job's id in the API.
  package static func name(of id: Int64) -> String { "\(idPrefix)\(id)" }

  /// The job with an id of the API, if it is one of the app.
  private func job(_ name: String, of appID: String) async throws(MigrationError) -> MigrationJob {
    guard name.hasPrefix(Self.idPrefix), let id = Int64(name.dropFirst(Self.idPrefix.count)),
      let job = try await read({ snapshot throws(StoreError) in try snapshot.migration(id) }),
      job.order.appID == appID
    else { throw .unknownMigration(name) }
    return job
  }

  /// The status of a job: the stored one, with the rate if it runs in this process.
  private func status(of job: MigrationJob) async throws(MigrationError) -> JobStatus {
    let reasons = try await read { snapshot throws(StoreError) in try snapshot.migrationReasons(of: job.id) }
    return JobStatus(
      job: job, reasons: reasons.filter(\.outcome.isFailure),
      rate: job.state == .running ? running[job.id]?.rate ?? 0 : 0,
      inputBytes: folder.size(ofInput: job.order.inputPath) ?? 0)
  }

  /// Runs a write, with its errors as ``MigrationError``.
  private func inStore<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(MigrationError) -> Value {
    do { return try await store.write(body) } catch { throw .ledger(.store(error)) }
  }

  /// Runs a read, with its errors as ``MigrationError``.
  private func read<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(MigrationError) -> Value {
    do { return try await store.read(.interactive, body) } catch { throw .ledger(.store(error)) }
  }
}
