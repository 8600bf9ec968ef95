internal import AppStore
internal import ReceiptMigration
internal import Store
internal import Wire

// Migration jobs as messages of the contract.

extension Migration {
  /// A job with its progress, in lines that are done and in bytes of the input: the number of its lines is not known.
  init(_ status: MigrationJobManager.JobStatus) {
    let job = status.job
    self.init()
    migrationId = MigrationJobManager.name(of: job.id)
    state = MigrationState(job.state)
    doneLines = job.counts.values.reduce(0, +)
    migrated = job.counts[.migrated] ?? 0
    unchanged = job.counts[.unchanged] ?? 0
    empty = job.counts[.empty] ?? 0
    rejected = job.counts[.rejected] ?? 0
    retryable = job.counts[.retryable] ?? 0
    startedAt = GoogleProtobuf.Timestamp(job.startedAt)
    finishedAt = job.finishedAt.map(GoogleProtobuf.Timestamp.init)
    rate = status.rate
    duplicates = job.duplicates
    reasons = status.reasons.map { reason in
      .with {
        $0.outcome = MigrationOutcome(reason.outcome)
        $0.reason = reason.reason
        $0.count = reason.count
      }
    }
    error = job.error
    app = job.order.appID
    dryRun = job.order.isDryRun
    doneBytes = job.position
    inputBytes = status.inputBytes
    environment = Wire.Environment(job.order.environment)
    input = status.uploadID.map { .uploadId($0) } ?? .inputPath(job.order.inputPath)
  }
}

extension MigrationFailure {
  /// `input` is the line as it was submitted, so that the failures can be the input of another job.
  init(_ failure: MigrationLine, input: String) {
    self.init()
    line = failure.number
    customerId = failure.customerID
    outcome = MigrationOutcome(failure.outcome)
    reason = failure.reason
    explanation = failure.explanation
    self.input = input
  }
}

extension MigrationOutcome {
  init(_ outcome: MigrationLine.Outcome) {
    switch outcome {
    case .migrated: self = .migrated
    case .unchanged: self = .unchanged
    case .empty: self = .empty
    case .rejected: self = .rejected
    case .retryable: self = .retryable
    }
  }
}

extension MigrationState {
  fileprivate init(_ state: MigrationJob.State) {
    switch state {
    case .running: self = .running
    case .finished: self = .finished
    case .cancelled: self = .cancelled
    case .failed: self = .failed
    }
  }
}
