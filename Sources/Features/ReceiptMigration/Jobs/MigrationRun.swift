internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Ledger
internal import Metrics
internal import Platform
internal import Store

/// A running job: reads its input, migrates several lines concurrently, and commits each line's result together with
/// its receipt.
struct MigrationRun: Sendable {
  let job: MigrationJob
  private let source: any InputSource
  let intake: ReceiptIntake
  let store: any EntitlementStore
  let progress: MigrationProgress
  private let sleep: @Sendable (Duration) async throws -> Void
  private let lines = KeyLocks()

  /// The number of attempts for a line whose errors are retryable.
  private static let maxAttempts = 5
  private static let maxPause = Duration.seconds(30)
  /// The number of finished lines between two writes of the watermark.
  private static let stride: Int64 = 16

  /// `source` has the input of the job; `sleep` waits between two attempts.
  init(
    _ job: MigrationJob, _ source: any InputSource, intake: ReceiptIntake, store: any EntitlementStore,
    progress: MigrationProgress,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.job = job
    self.source = StoppableSource(base: source) { Task.isCancelled || progress.isStopped }
    self.intake = intake
    self.store = store
    self.progress = progress
    self.sleep = sleep
  }

  /// Whether the job was cancelled or the service ends.
  private var isStopped: Bool { Task.isCancelled || progress.isStopped }

  /// The reason why a run ends before the end of its input.
  private enum Interruption: Error {
    /// The input cannot be read: the job fails.
    case input(InputError)
    /// The job continues after a restart, or was stopped.
    case store(StoreError)
  }

  /// Runs to the end of the input, or until the task is cancelled or the job stopped. A busy or full store pauses it.
  ///
  /// - Throws: the error of a store that is closed or damaged; the job resumes after a restart.
  func run() async throws(StoreError) {
    do throws(Interruption) {
      var reader = try await openInput()
      let done = try await doneLines()
      try await processLines(&reader, done)
    } catch {
      guard !isStopped else { return }
      switch error {
      case .input(let error): try await end(.failed, error.description)
      case .store(let error): throw error
      }
    }
  }

  private func openInput() async throws(Interruption) -> InputReader {
    let format = InputFormat(job.order.format) ?? InputFormat()
    while true {
      do throws(InputError) {
        return try InputReader(source, format, after: job.doneLines, at: job.position)
      } catch {
        guard case .store(let failure) = error else { throw .input(error) }
        guard await mayRepeat(after: failure) else { throw .store(failure) }
      }
    }
  }

  /// Waits until the upload may be readable again. Returns whether it may; `false` if the job stops.
  private func mayRepeat(after failure: StoreError) async -> Bool {
    guard failure.isTemporary, !isStopped else { return false }
    try? await sleep(.seconds(1))
    return !isStopped
  }

  private func doneLines() async throws(Interruption) -> Set<Int64> {
    let id = job.id
    do throws(StoreError) {
      return try await repeating { () async throws(StoreError) in
        try await store.read(.background) { store throws(StoreError) in try store.doneLines(of: id) }
      }
    } catch {
      throw .store(error)
    }
  }

  /// Repeats `operation` with growing pauses while the store is busy, full or out of reach.
  ///
  /// - Throws: the last error once the job stops; an error that no later attempt can resolve at once.
  private func repeating<Value: Sendable>(
    _ operation: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    var pause = Duration.seconds(1)
    while true {
      do throws(StoreError) { return try await operation() } catch {
        guard error.isTemporary, !isStopped else { throw error }
      }
      try? await sleep(pause)
      pause = min(pause * 2, Self.maxPause)
    }
  }

  private func processLines(
    _ reader: inout InputReader, _ done: Set<Int64>
  ) async throws(Interruption) {
    var mark = ProgressWatermark(line: job.doneLines, position: job.position)
    let outcome = await withTaskGroup(of: InputLine?.self) { group -> Result<Bool, InputError> in
      var inFlight = 0
      var failure: InputError?
      reading: while failure == nil, !isStopped {
        do throws(InputError) {
          let line: InputLine
          switch try reader.step() {
          case .line(let next): line = next
          case .end: break reading
          case .more:
            await Task.yield()
            continue
          }
          mark.begin(line, next: reader.position)
          if done.contains(line.number) || line.isErased {
            mark.finish(line)
            continue
          }
          group.addTask(executorPreference: BackgroundThreads.shared) { await process(line) ? line : nil }
          inFlight += 1
        } catch {
          guard !isStopped else { break reading }
          if case .store(let lost) = error, await mayRepeat(after: lost) { continue }
          failure = error
        }
        guard inFlight >= job.order.concurrency else { continue }
        if let line = await group.next() ?? nil { await finish(line, &mark) }
        inFlight -= 1
      }
      while let line = await group.next() {
        if let line { await finish(line, &mark) }
      }
      if let failure { return .failure(failure) }
      await save(mark)
      return .success(mark.isComplete && !isStopped)
    }
    do throws(InputError) {
      guard try outcome.get() else { return }
    } catch {
      if case .store(let failure) = error { throw .store(failure) }
      throw .input(error)
    }
    do throws(StoreError) { try await end(.finished, "") } catch { throw .store(error) }
  }

  private func finish(_ line: InputLine, _ mark: inout ProgressWatermark) async {
    let before = mark.line
    mark.finish(line)
    if mark.line / Self.stride != before / Self.stride { await save(mark) }
  }

  /// Writes the watermark. A failed write is made good by the next one.
  private func save(_ mark: ProgressWatermark) async {
    let (id, line, position) = (job.id, mark.line, mark.position)
    try? await store.write { store throws(StoreError) in
      try store.saveProgress(of: id, to: line, position: position)
    }
  }

  private func end(_ state: MigrationJob.State, _ error: String) async throws(StoreError) {
    let (id, instant) = (job.id, intake.ledger.clocks.now(in: job.order.environment))
    try await repeating { () async throws(StoreError) in
      try await store.write { store throws(StoreError) in
        try store.end(id, as: state, error: error.listed, at: instant)
      }
    }
  }
}

extension MigrationRun {
  /// Migrates a line, with retries.
  ///
  /// - Returns: whether the line's result is stored; false if the job stops.
  private func process(_ line: InputLine) async -> Bool {
    let record: InputRecord
    switch line.record {
    case .success(let found): record = found
    case .failure(let error):
      count(error.reason)
      return await keep(
        line.outcome(.rejected, customerID: "", reason: error.reason, explanation: error.description))
    }
    var attempt = 1
    var storePause = Duration.seconds(1)
    while true {
      do throws(ReceiptError) {
        if try await migrate(line, record, isLast: attempt == Self.maxAttempts) {
          count("DONE")
          return true
        }
        guard !isStopped else { return false }
        try? await sleep(.seconds(1))
        attempt += 1
      } catch {
        guard !isStopped else { return false }
        // The line is not to blame for the store, so these attempts do not count.
        if let failure = error.storeFailure {
          guard failure.isTemporary else { return false }
          try? await sleep(storePause)
          storePause = min(storePause * 2, Self.maxPause)
          continue
        }
        guard error.isRetryable, attempt < Self.maxAttempts else {
          count(error.reason)
          let outcome: MigrationLine.Outcome = error.isRetryable ? .retryable : .rejected
          return await keep(
            line.outcome(
              outcome, customerID: record.customerID, reason: error.reason, explanation: error.description))
        }
        try? await sleep(min(error.retryAfter, Self.maxPause))
        attempt += 1
      }
    }
  }

  /// Submits the receipt and stores the line's result in the same commit.
  ///
  /// - Returns: false if its lookup failed, and a retry is due unless this is the last attempt.
  private func migrate(
    _ line: InputLine, _ record: InputRecord, isLast: Bool
  ) async throws(ReceiptError) -> Bool {
    var incoming = IncomingReceipt(
      appID: job.order.appID, customerID: record.customerID.isEmpty ? nil : record.customerID,
      content: record.content)
    incoming.environment = job.order.environment
    incoming.source = .migration
    incoming.priority = .backfill
    incoming.queriedSince = job.startedAt
    incoming.lineLocks = lines
    if job.order.linksUnverifiedIDs { incoming.binding = .assignedByOperator(actor: job.order.actor) }
    if job.order.isDryRun {
      let found = try await intake.dryRun(incoming)
      _ = await keep(
        line.outcome(found.lines.isEmpty ? .empty : .migrated, customerID: record.customerID))
      return true
    }
    let id = job.id
    let outcome = try await intake.submit(incoming) { store, result throws(StoreError) in
      guard result.pendingReason == nil || isLast else { return }
      try store.finish(line.outcome(of: result, customerID: record.customerID), of: id)
    }
    progress.count()
    return outcome.lookupFailure == nil || isLast
  }

  private func keep(_ outcome: MigrationLine) async -> Bool {
    let id = job.id
    progress.count()
    do throws(StoreError) {
      try await repeating { () async throws(StoreError) in
        try await store.write { store throws(StoreError) in try store.finish(outcome, of: id) }
      }
      return true
    } catch {
      return false
    }
  }

  private func count(_ reason: String) {
    Counter(label: "entitled_migrated_receipts_total", dimensions: [("reason", reason)]).increment()
  }
}

extension InputLine {
  fileprivate func outcome(
    _ outcome: MigrationLine.Outcome, customerID: String, reason: String = "", explanation: String = ""
  ) -> MigrationLine {
    MigrationLine(
      number: number, position: position, length: length, customerID: customerID.listed, outcome: outcome,
      reason: reason, explanation: explanation.listed)
  }

  fileprivate func outcome(of result: ReceiptResult, customerID: String) -> MigrationLine {
    if result.belongsToAnotherCustomer {
      let rejection = ReceiptRejection.ownedByAnotherCustomer(
        originalTransactionIDs: result.linesOfOtherCustomers)
      return outcome(
        .rejected, customerID: customerID, reason: rejection.reason, explanation: rejection.description)
    }
    if let reason = result.pendingReason {
      return outcome(
        .retryable, customerID: customerID, reason: reason,
        explanation: "lookup failed; the receipt's contents hold until it succeeds")
    }
    var line = outcome(
      result.isEmpty ? .empty : result.changedState ? .migrated : .unchanged, customerID: customerID)
    line.isDuplicate = result.wasQueriedBefore
    return line
  }
}

extension String {
  /// The text as the state of a job can have it. An input can have any text: of any length, and with a NUL, which
  /// PostgreSQL refuses.
  fileprivate var listed: String {
    String(String.UnicodeScalarView(unicodeScalars.prefix(1_000).map { $0 == "\0" ? "\u{FFFD}" : $0 }))
  }
}

extension ReceiptError {
  /// The error of the store, if that is the cause.
  fileprivate var storeFailure: StoreError? {
    switch self {
    case .ledger(.store(let failure)), .lookupFailed(.ledger(.store(let failure))): failure
    default: nil
    }
  }
}

extension StoreError {
  /// Whether the same operation may succeed later, without a restart.
  fileprivate var isTemporary: Bool {
    switch self {
    case .overloaded, .deadlineExceeded, .diskFull, .failed, .removed, .cannotOpen, .inUse, .conflict,
      .unavailable,
      .outcomeUnknown:
      true
    case .cancelled, .closed, .corrupt, .newerSchema, .olderSchema, .missing: false
    }
  }
}
