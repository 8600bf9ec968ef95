package import AppStore

/// A migration job with its progress.
package struct MigrationJob: Hashable, Sendable {
  /// The state of a job.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// The job is running; it continues after a restart.
    case running = "RUNNING"
    /// The job processed all of its input.
    case finished = "FINISHED"
    /// A caller cancelled the job.
    case cancelled = "CANCELLED"
    /// The input is unreadable.
    case failed = "FAILED"
  }

  /// The parameters of a job.
  package struct Order: Hashable, Sendable {
    /// The operator's name for the app.
    package var appID: String
    /// The environments in which original transaction ids of the input are looked up, in this order, until Apple has
    /// one; receipts contain their own. At least one.
    package var environments: [Environment]
    /// The path of the input on the server.
    package var inputPath: String
    /// The format name of the input, which the migration reader defines.
    package var format: String
    /// The maximum number of receipts processed at the same time.
    package var concurrency: Int
    /// Whether the job changes nothing and makes no calls to Apple.
    package var isDryRun: Bool
    /// The caller that started the job, for the audit log.
    package var actor: String
    /// Whether to link unverified original transaction ids to customers, because the operator vouches for the
    /// owners.
    package var linksUnverifiedIDs: Bool
    /// Whether the input was created for this job, and is deleted with it.
    package var ownsInput: Bool

    /// Creates parameters.
    package init(
      appID: String, environments: [Environment], inputPath: String, format: String, concurrency: Int,
      isDryRun: Bool = false, actor: String = "", linksUnverifiedIDs: Bool = false,
      ownsInput: Bool = false
    ) {
      self.appID = appID
      self.environments = environments
      self.inputPath = inputPath
      self.format = format
      self.concurrency = concurrency
      self.isDryRun = isDryRun
      self.actor = actor
      self.linksUnverifiedIDs = linksUnverifiedIDs
      self.ownsInput = ownsInput
    }

    /// The first of ``environments``, whose clock dates the job.
    package var environment: Environment { environments.first ?? .production }
  }

  /// The id of the job.
  package let id: Int64
  /// The parameters of the job.
  package let order: Order
  /// Changes from ``State/running`` to another one once.
  package var state: State
  /// The reason for the failure; empty if the job did not fail.
  package var error: String
  /// By the service's clock.
  package var startedAt: Instant
  /// `nil` while the job runs.
  package var finishedAt: Instant?
  /// The number of lines by outcome.
  package var counts: [MigrationLine.Outcome: Int64] = [:]
  /// The number of unchanged lines that name the same Apple account as an earlier line.
  package var duplicates: Int64
  /// The number of lines of the input, from its start, up to which all are finished.
  package var doneLines: Int64
  /// The byte offset of the line after ``doneLines``.
  package var position: Int64

  /// Creates a job from its parts.
  package init(
    id: Int64, order: Order, state: State = .running, error: String = "", startedAt: Instant,
    finishedAt: Instant? = nil, duplicates: Int64 = 0, doneLines: Int64 = 0, position: Int64 = 0
  ) {
    self.id = id
    self.order = order
    self.state = state
    self.error = error
    self.startedAt = startedAt
    self.finishedAt = finishedAt
    self.duplicates = duplicates
    self.doneLines = doneLines
    self.position = position
  }
}

/// The result of one line of a job's input.
package struct MigrationLine: Hashable, Sendable {
  /// The outcome of a line.
  package enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The line added facts.
    case migrated = "MIGRATED"
    /// All facts of the line were stored already.
    case unchanged = "UNCHANGED"
    /// The line is a valid receipt without purchases.
    case empty = "EMPTY"
    /// The line is permanently invalid.
    case rejected = "REJECTED"
    /// The line failed temporarily.
    case retryable = "RETRYABLE"

    /// Whether the line failed, permanently or temporarily.
    package var isFailure: Bool { self == .rejected || self == .retryable }
  }

  /// The number of the line in the input, counted from 1.
  package var number: Int64
  /// The byte offset of the line.
  package var position: Int64
  /// The length of the line in bytes.
  package var length: Int64
  /// The operator's name for the customer; empty if the line has none.
  package var customerID: String
  /// The result of the line.
  package var outcome: Outcome
  /// The reason code; empty on success.
  package var reason: String
  /// The explanation for people.
  package var explanation: String
  /// Whether the line is unchanged because an earlier one names the same Apple account.
  package var isDuplicate: Bool

  /// Creates a result from its parts.
  package init(
    number: Int64, position: Int64, length: Int64, customerID: String, outcome: Outcome, reason: String = "",
    explanation: String = "", isDuplicate: Bool = false
  ) {
    self.number = number
    self.position = position
    self.length = length
    self.customerID = customerID
    self.outcome = outcome
    self.reason = reason
    self.explanation = explanation
    self.isDuplicate = isDuplicate
  }
}
