internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Ledger
internal import Metrics
internal import Platform
internal import Store

// One line of the input.
extension MigrationRun {
  /// The number of attempts for a line whose errors are retryable.
  private static let maxAttempts = 5

  /// Migrates a line, with retries: five attempts for an error that time may change, no limit while the store is
  /// unavailable, and none for a rejected receipt or damaged rows of a customer. The result is counted and stored in any
  /// case.
  ///
  /// - Returns: `false` if the job stops before.
  /// - Throws: the error of a store that cannot have the result, also later.
  func process(_ line: InputLine) async throws(StoreError) -> Bool {
    let record: InputRecord
    switch line.record {
    case .success(let found): record = found
    case .failure(let error):
      count(error.reason)
      return try await keep(
        line.outcome(.rejected, customerID: "", reason: error.reason, explanation: error.description))
    }
    var attempt = 1
    var storePause = Duration.seconds(1)
    while true {
      do throws(ReceiptError) {
        let isFinished =
          job.order.isDryRun
          ? try await verify(line, record)
          : try await migrate(line, record, isLast: attempt == Self.maxAttempts)
        if isFinished {
          count("DONE")
          return true
        }
        guard !isStopped else { return false }
        try? await sleep(.seconds(1))
        attempt += 1
      } catch {
        guard !isStopped else { return false }
        // The line is not to blame for the store, so these attempts do not count.
        let storeFailure = error.storeFailure
        if storeFailure?.isTemporary == true {
          try? await sleep(storePause)
          storePause = min(storePause * 2, Self.maxPause)
          continue
        }
        guard error.isRetryable, storeFailure == nil, attempt < Self.maxAttempts else {
          count(error.reason)
          let outcome: MigrationLine.Outcome = error.isRetryable ? .retryable : .rejected
          return try await keep(
            line.outcome(
              outcome, customerID: record.customerID, reason: error.reason, explanation: error.description))
        }
        try? await sleep(min(error.retryAfter, Self.maxPause))
        attempt += 1
      }
    }
  }

  /// Verifies the receipt of a dry run and stores the line's result.
  ///
  /// - Returns: `false` if the job stops.
  private func verify(_ line: InputLine, _ record: InputRecord) async throws(ReceiptError) -> Bool {
    let found = try await intake.dryRun(incoming(record))
    do throws(StoreError) {
      return try await keep(
        line.outcome(found.lines.isEmpty ? .empty : .migrated, customerID: record.customerID))
    } catch {
      throw .ledger(.store(error))
    }
  }

  /// Submits the receipt and stores the line's result in the same commit.
  ///
  /// - Returns: false if its lookup failed, and a retry is due unless this is the last attempt.
  private func migrate(
    _ line: InputLine, _ record: InputRecord, isLast: Bool
  ) async throws(ReceiptError) -> Bool {
    let id = job.id
    let outcome = try await intake.submit(incoming(record)) { store, result throws(StoreError) in
      guard result.pendingReason == nil || isLast else { return }
      try store.finish(line.outcome(of: result, customerID: record.customerID), of: id)
    }
    let isFinished = outcome.lookupFailure == nil || isLast
    if isFinished { progress.count() }
    return isFinished
  }

  /// The receipt of a line, as the order of the job has it verified.
  private func incoming(_ record: InputRecord) -> IncomingReceipt {
    var incoming = IncomingReceipt(
      appID: job.order.appID, customerID: record.customerID.isEmpty ? nil : record.customerID,
      content: record.content)
    incoming.environments = job.order.environments
    incoming.source = .migration
    incoming.priority = .backfill
    incoming.queriedSince = job.startedAt
    incoming.lineLocks = lines
    if job.order.linksUnverifiedIDs { incoming.binding = .assignedByOperator(actor: job.order.actor) }
    return incoming
  }

  /// Stores the result of a line that changed nothing else.
  ///
  /// - Returns: whether it is stored; `false` if the job stops.
  /// - Throws: the error of a store that fails permanently.
  private func keep(_ outcome: MigrationLine) async throws(StoreError) -> Bool {
    let id = job.id
    progress.count()
    do throws(StoreError) {
      try await repeating { () async throws(StoreError) in
        try await store.write { store throws(StoreError) in try store.finish(outcome, of: id) }
      }
      return true
    } catch {
      guard isStopped else { throw error }
      return false
    }
  }

  /// Counts a line by its result.
  private func count(_ reason: String) {
    Counter(label: "entitled_migrated_receipts_total", dimensions: [("reason", reason)]).increment()
  }
}

extension InputLine {
  /// The result of the line, with texts as the store accepts them.
  fileprivate func outcome(
    _ outcome: MigrationLine.Outcome, customerID: String, reason: String = "", explanation: String = ""
  ) -> MigrationLine {
    MigrationLine(
      number: number, position: position, length: length, customerID: customerID.listed, outcome: outcome,
      reason: reason, explanation: explanation.listed)
  }

  /// The result of a line whose receipt was ingested.
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
    line.isDuplicate = line.outcome == .unchanged && result.wasQueriedBefore
    return line
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
