package import AppStore

/// A migration job, as it stands.
package struct MigrationJob: Hashable, Sendable {
  /// Where a job stands.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// It goes on, also after a restart.
    case running = "RUNNING"
    /// All of its input was gone through.
    case finished = "FINISHED"
    /// Somebody stopped it.
    case cancelled = "CANCELLED"
    /// Its input cannot be read.
    case failed = "FAILED"
  }

  /// What a job was told to do.
  package struct Order: Hashable, Sendable {
    /// The operator's name for the app.
    package var appID: String
    /// Where numbers that stand for purchases belong; receipts say it themselves.
    package var environment: Environment
    /// The input, a path on this machine.
    package var inputPath: String
    /// How the input is to be read, in the words of whoever reads it.
    package var format: String
    /// How many receipts at a time.
    package var concurrency: Int
    /// Nothing is to change, and Apple is not asked.
    package var isDryRun: Bool
    /// The same key again gives the same job; empty for none.
    package var key: String
    /// Who ordered it, for the audit trail.
    package var actor: String
    /// Whether whoever ordered it vouches for the owners of numbers.
    package var linksNumbers: Bool
    /// Whether the input was made for this job, and goes with it.
    package var ownsInput: Bool

    /// An order by its parts.
    package init(
      appID: String, environment: Environment, inputPath: String, format: String, concurrency: Int,
      isDryRun: Bool = false, key: String = "", actor: String = "", linksNumbers: Bool = false,
      ownsInput: Bool = false
    ) {
      self.appID = appID
      self.environment = environment
      self.inputPath = inputPath
      self.format = format
      self.concurrency = concurrency
      self.isDryRun = isDryRun
      self.key = key
      self.actor = actor
      self.linksNumbers = linksNumbers
      self.ownsInput = ownsInput
    }
  }

  /// Its number.
  package let id: Int64
  package let order: Order
  package var state: State
  /// Why it failed; empty if it did not.
  package var problem: String
  package var startedAt: Instant
  /// `nil` while it goes on.
  package var finishedAt: Instant?
  /// How many lines came to what.
  package var counts: [MigrationLine.Outcome: Int64]
  /// How many of the unchanged were of an Apple account that another line had brought.
  package var duplicates: Int64
  /// All lines up to this one are done.
  package var doneLines: Int64
  /// Where the first line that may not be done begins, in bytes.
  package var position: Int64

  /// A job by its parts.
  package init(
    id: Int64, order: Order, state: State = .running, problem: String = "", startedAt: Instant,
    finishedAt: Instant? = nil, counts: [MigrationLine.Outcome: Int64] = [:], duplicates: Int64 = 0,
    doneLines: Int64 = 0, position: Int64 = 0
  ) {
    self.id = id
    self.order = order
    self.state = state
    self.problem = problem
    self.startedAt = startedAt
    self.finishedAt = finishedAt
    self.counts = counts
    self.duplicates = duplicates
    self.doneLines = doneLines
    self.position = position
  }
}

/// What became of one line of a job's input.
package struct MigrationLine: Hashable, Sendable {
  /// What became of it.
  package enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// Something is known that was not known before.
    case migrated = "MIGRATED"
    /// Everything was known.
    case unchanged = "UNCHANGED"
    /// A valid receipt without purchases.
    case empty = "EMPTY"
    /// It can never be migrated.
    case rejected = "REJECTED"
    /// It could not be migrated now.
    case retryable = "RETRYABLE"

    /// Whether it is among what a job could not do.
    package var isFailure: Bool { self == .rejected || self == .retryable }
  }

  /// Counted from 1.
  package var number: Int64
  /// Where it begins, in bytes.
  package var position: Int64
  /// How many bytes it has.
  package var length: Int64
  /// The operator's name for the customer; empty if the line has none.
  package var customerID: String
  package var outcome: Outcome
  /// A code for machines; empty if all went well.
  package var reason: String
  /// A sentence for people.
  package var explanation: String
  /// Another line had brought the same Apple account.
  package var isDuplicate: Bool

  /// A line by its parts.
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
