internal import AppStore
internal import AppStoreClient
internal import Ledger
internal import Metrics
internal import Store

/// One job on its way: reads its input, works on some lines at a time, and remembers what is done together with
/// what came of it.
struct MigrationRun: Sendable {
  let job: MigrationJob
  let intake: ReceiptIntake
  let store: any EntitlementStore
  let progress: MigrationProgress
  private let lines = LineLocks()

  /// How often a line is tried while Apple cannot be asked.
  private static let attempts = 5
  private static let maxPause = Duration.seconds(30)
  /// How many lines are done before it is remembered up to which all are.
  private static let stride: Int64 = 16

  init(
    _ job: MigrationJob, intake: ReceiptIntake, store: any EntitlementStore, progress: MigrationProgress
  ) {
    self.job = job
    self.intake = intake
    self.store = store
    self.progress = progress
  }

  /// Goes on to the end of the input, or until the task is cancelled or the job stopped.
  func run() async throws(LedgerError) {
    do throws(InputError) {
      var reader = try InputReader(
        path: job.order.inputPath, InputFormat(job.order.format) ?? InputFormat(), after: job.doneLines,
        at: job.position)
      let id = job.id
      let done = try await reading { store throws(StoreError) in try store.doneLines(of: id) }
      try await work(&reader, done)
    } catch {
      try await end(.failed, error.description)
    }
  }

  private func reading<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(InputError) -> Value {
    do { return try await store.read(.background, body) } catch {
      throw .unreadable(path: "the store", problem: error.description)
    }
  }

  private func work(
    _ reader: inout InputReader, _ done: Set<Int64>
  ) async throws(InputError) {
    var mark = ProgressWatermark(line: job.doneLines, position: job.position)
    let outcome = await withTaskGroup(of: InputLine?.self) { group -> Result<Bool, InputError> in
      var working = 0
      var failure: InputError?
      while failure == nil, !Task.isCancelled, !progress.isStopped {
        do throws(InputError) {
          guard let line = try reader.next() else { break }
          mark.begin(line, next: reader.position)
          if done.contains(line.number) {
            mark.finish(line)
            continue
          }
          group.addTask { await work(on: line) ? line : nil }
          working += 1
        } catch {
          failure = error
        }
        guard working >= job.order.concurrency else { continue }
        if let line = await group.next() ?? nil { await finish(line, &mark) }
        working -= 1
      }
      while let line = await group.next() {
        if let line { await finish(line, &mark) }
      }
      if let failure { return .failure(failure) }
      await remember(mark)
      return .success(mark.isWhole && !Task.isCancelled && !progress.isStopped)
    }
    guard try outcome.get() else { return }
    do { try await end(.finished, "") } catch {
      throw .unreadable(path: "the store", problem: error.description)
    }
  }

  private func finish(_ line: InputLine, _ mark: inout ProgressWatermark) async {
    let before = mark.line
    mark.finish(line)
    if mark.line / Self.stride != before / Self.stride { await remember(mark) }
  }

  /// Up to where all is done. If it cannot be written, the next time says it.
  private func remember(_ mark: ProgressWatermark) async {
    let (id, line, position) = (job.id, mark.line, mark.position)
    try? await store.write { store throws(StoreError) in
      try store.saveProgress(of: id, to: line, position: position)
    }
  }

  private func end(_ state: MigrationJob.State, _ problem: String) async throws(LedgerError) {
    let (id, moment) = (job.id, intake.now())
    do {
      try await store.write { store throws(StoreError) in
        try store.end(id, as: state, problem: problem, at: moment)
      }
    } catch {
      throw .store(error)
    }
  }
}

// One line.
extension MigrationRun {
  /// - Returns: whether the line is done; false if it was given up because the job stops.
  private func work(on line: InputLine) async -> Bool {
    let record: InputRecord
    switch line.record {
    case .success(let found): record = found
    case .failure(let error):
      count(error.reason)
      return await keep(
        line.outcome(.rejected, customerID: "", reason: error.reason, explanation: error.description))
    }
    for attempt in 1...Self.attempts {
      do throws(ReceiptError) {
        try await migrate(line, record, isLast: attempt == Self.attempts)
        count("DONE")
        return true
      } catch {
        guard !Task.isCancelled, !progress.isStopped else { return false }
        guard error.mayPass, attempt < Self.attempts else {
          count(error.reason)
          let outcome: MigrationLine.Outcome = error.mayPass ? .retryable : .rejected
          return await keep(
            line.outcome(
              outcome, customerID: record.customerID, reason: error.reason, explanation: error.description))
        }
        try? await Task.sleep(for: min(error.pause, Self.maxPause))
      }
    }
    return false
  }

  /// Takes the receipt in and remembers in the same commit what became of the line.
  private func migrate(_ line: InputLine, _ record: InputRecord, isLast: Bool) async throws(ReceiptError) {
    var incoming = IncomingReceipt(
      appID: job.order.appID, customerID: record.customerID.isEmpty ? nil : record.customerID,
      content: record.content)
    incoming.environment = job.order.environment
    incoming.source = .migration
    incoming.priority = .backfill
    incoming.queriedSince = job.startedAt
    incoming.lineLocks = lines
    if job.order.linksNumbers { incoming.binding = .vouched(by: job.order.actor) }
    if job.order.isDryRun {
      let found = try await intake.dryRun(incoming)
      _ = await keep(
        line.outcome(found.lines.isEmpty ? .empty : .migrated, customerID: record.customerID))
      return
    }
    let id = job.id
    let outcome = try await intake.submit(incoming) { store, taken throws(StoreError) in
      guard taken.pendingReason == nil || isLast else { return }
      try store.finish(line.outcome(of: taken, customerID: record.customerID), of: id)
    }
    progress.count()
    guard let reason = outcome.pendingReason, !isLast else { return }
    throw .unavailable(reason: reason, explanation: "Apple could not be asked", retryAfter: .seconds(1))
  }

  private func keep(_ outcome: MigrationLine) async -> Bool {
    let id = job.id
    progress.count()
    return await (try? store.write { store throws(StoreError) in try store.finish(outcome, of: id) }) != nil
  }

  private func count(_ reason: String) {
    Counter(label: "entitled_migrated_receipts_total", dimensions: [("reason", reason)]).increment()
  }
}

/// Up to which line all are done, while some behind it may be done too.
private struct ProgressWatermark {
  var line: Int64
  var position: Int64
  /// Where the line behind each one begins that was begun.
  private var next: [Int64: Int64] = [:]
  private var done: Set<Int64> = []

  init(line: Int64, position: Int64) {
    self.line = line
    self.position = position
  }

  /// Whether all that was begun is done.
  var isWhole: Bool { next.isEmpty }

  mutating func begin(_ line: InputLine, next position: Int64) { next[line.number] = position }

  mutating func finish(_ finished: InputLine) {
    done.insert(finished.number)
    while done.remove(line + 1) != nil {
      line += 1
      position = next.removeValue(forKey: line) ?? position
    }
  }
}

extension InputLine {
  fileprivate func outcome(
    _ outcome: MigrationLine.Outcome, customerID: String, reason: String = "", explanation: String = ""
  ) -> MigrationLine {
    MigrationLine(
      number: number, position: position, length: length, customerID: customerID, outcome: outcome,
      reason: reason, explanation: explanation)
  }

  fileprivate func outcome(of taken: ReceiptResult, customerID: String) -> MigrationLine {
    if taken.belongsToAnotherCustomer {
      let refusal = ReceiptRefusal.ownedByAnotherCustomer(originalTransactionIDs: taken.linesOfOtherCustomers)
      return outcome(
        .rejected, customerID: customerID, reason: refusal.reason, explanation: refusal.description)
    }
    if let reason = taken.pendingReason {
      return outcome(
        .retryable, customerID: customerID, reason: reason,
        explanation: "Apple could not be asked; the receipt's own word holds until it can")
    }
    var line = outcome(
      taken.isEmpty ? .empty : taken.changedState ? .migrated : .unchanged, customerID: customerID)
    line.isDuplicate = taken.wasQueriedBefore
    return line
  }
}

extension ReceiptError {
  /// How long to wait before it is tried again.
  fileprivate var pause: Duration {
    if case .unavailable(_, _, let wait) = self { wait } else { .seconds(1) }
  }
}
