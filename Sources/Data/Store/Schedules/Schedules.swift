package import AppStore

/// Stores the next status poll of each subscription, which compensates for notifications that do not arrive.
package protocol PollStore {
  /// Returns the time of the last status poll of a line; `nil` if there was none.
  func lastPoll(of line: LineKey) throws(StoreError) -> Instant?

  /// Schedules the next status poll of a line; `nil` removes it from the schedule.
  func schedulePoll(of line: LineKey, at instant: Instant?) throws(StoreError)

  /// Schedules the next status poll of a line at the result of `next`, which gets the time of the last one.
  func reschedulePoll(of line: LineKey, _ next: (_ polledAt: Instant?) -> Instant?) throws(StoreError)

  /// Records a status poll of a line without changing its schedule.
  ///
  /// - Returns: whether the line is scheduled; if not, nothing is written.
  @discardableResult
  func recordPoll(of line: LineKey, at instant: Instant) throws(StoreError) -> Bool
}

/// The next status poll of a line.
package struct ScheduledPoll: Hashable, Sendable {
  /// The line to poll.
  package let line: LineKey
  /// The time from which it is due.
  package let at: Instant

  package init(line: LineKey, at: Instant) {
    self.line = line
    self.at = at
  }
}

/// Reads the schedule of ``PollStore``.
package protocol PollReader {
  /// Returns at most `limit` lines of an app whose status poll is due by `instant`, the longest overdue first.
  func duePolls(
    of appID: String, in environment: Environment, by instant: Instant, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// Returns at most `limit` scheduled polls of an app whose lines were last polled after `instant`, by a clock that was
  /// ahead: those that follow `last` in the order of time.
  func polls(
    recordedAfter instant: Instant, of appID: String, in environment: Environment,
    following last: ScheduledPoll?, limit: Int
  ) throws(StoreError) -> [ScheduledPoll]

  /// Returns the due time of the next poll of an app; `nil` if none is scheduled.
  func nextPoll(of appID: String, in environment: Environment) throws(StoreError) -> Instant?

  /// Returns the number of polls of an app that are due by `instant`.
  func pollBacklog(
    of appID: String, in environment: Environment, by instant: Instant
  ) throws(StoreError) -> Int64
}

/// A pending call to Apple about one line, on behalf of a caller.
package struct PendingRefresh: Hashable, Sendable {
  /// The line to look up.
  package var line: LineKey
  /// The time of the next attempt.
  package var dueAt: Instant
  /// The number of failed attempts.
  package var attempts: Int
  /// The reason code of the last failure, or of the postponement.
  package var reason: String
  /// Apple's token of the page of the history at which the next attempt continues; `nil` for the first page.
  package var revision: String?

  /// Creates a pending call from its parts.
  package init(line: LineKey, dueAt: Instant, attempts: Int = 0, reason: String, revision: String? = nil) {
    self.line = line
    self.dueAt = dueAt
    self.attempts = attempts
    self.reason = reason
    self.revision = revision
  }
}

/// Stores pending calls to Apple about single lines, and the time of the last call; ``RefreshReader`` reads
/// them.
package protocol RefreshStore {
  /// Inserts or replaces the pending call of a line.
  func put(_ refresh: PendingRefresh) throws(StoreError)

  /// Removes the pending calls of these lines and stores the time of the call that answered them.
  func completeRefreshes(of lines: [LineKey], at instant: Instant) throws(StoreError)

  /// Makes the pending calls that are due after `limit` due at `instant`.
  func hastenRefreshes(
    dueAfter limit: Instant, to instant: Instant, in domain: ClockDomain
  ) throws(StoreError)
}

/// Reads the pending calls of ``RefreshStore``.
package protocol RefreshReader {
  /// Returns at most `limit` pending calls that are due by `instant`, the longest overdue first.
  func refreshes(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [PendingRefresh]

  /// Returns the due time of the next pending call; `nil` if there is none.
  func nextRefresh(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Returns the time of the last call about the Apple account of a line; `nil` if there was none.
  func lastRefresh(of line: LineKey) throws(StoreError) -> Instant?
}

/// Finds the customers whose answers change by time alone or by a new catalog.
package protocol ExpiryStore {
  /// Returns at most `limit` customers with an answer that changes by `now` without new evidence, the longest
  /// overdue first.
  func due(by now: Instant, in domain: ClockDomain, limit: Int) throws(StoreError) -> [CustomerKey]

  /// Returns the customers with an event, among the latest ones, that was recorded after `now`: the clock was set
  /// back since.
  func customers(withEventsAfter now: Instant, in domain: ClockDomain) throws(StoreError) -> [CustomerKey]

  /// Returns at most `limit` customers of an app whose answers were computed under another catalog
  /// fingerprint, after `customer`.
  func customers(
    of appID: String, withFingerprintOtherThan fingerprint: UInt64, after customer: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerKey]

  /// Records that the answers of all customers of an app were computed under this catalog and these rules, unless
  /// the last change was the same.
  func record(_ change: CatalogChange, of appID: String) throws(StoreError)
}

/// A change of the catalog or of the rules of an app.
package struct CatalogChange: Hashable, Sendable {
  /// The ``AppDefinition/fingerprint`` since then.
  package let fingerprint: UInt64
  /// When the answers of all customers were computed under it, by the service's clock.
  package let at: Instant

  package init(fingerprint: UInt64, at: Instant) {
    self.fingerprint = fingerprint
    self.at = at
  }
}

/// The environments that one clock governs. An embedded sandbox has a separate clock, which testers turn; it must not
/// move the other environments.
package enum ClockDomain: Hashable, Sendable {
  /// All environments, without an embedded sandbox.
  case all
  /// Apple's environment `Sandbox`, which the embedded sandbox plays.
  case sandbox
  /// All others: they follow the machine's clock.
  case others

  /// Whether the clock governs an environment.
  package func contains(_ environment: Environment) -> Bool {
    switch self {
    case .all: true
    case .sandbox: environment == .sandbox
    case .others: environment != .sandbox
    }
  }
}
