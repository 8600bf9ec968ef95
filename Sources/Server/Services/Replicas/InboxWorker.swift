internal import Ledger
internal import Logging
internal import Metrics
internal import Notifications
internal import Platform
internal import RPC
internal import Store
internal import Synchronization

/// Executes what other replicas hand to the leader, many entries at once, so that their writes share commits.
///
/// An entry without outcome after a takeover is executed again. A call has an idempotency key for that: its own, or the
/// token of its entry, which no caller can guess. All others are idempotent by their content.
///
/// No entry prevents others: one that the store refuses stays, because no caller sends it again, and is tried again after a
/// minute.
package final class InboxWorker: Worker {
  package let name = "inbox"

  /// The maximum number of entries that are executed at the same time.
  private static let maxRunning = 256
  /// The maximum number of entries that one statement takes.
  private static let batchSize = 64
  /// Attempts at a call that the store fails, before the caller gets the error: about a second. While the database is away,
  /// the outcome cannot be stored either, so there are more.
  private static let attempts = 6
  /// The attempt after which an entry that fails again and again is logged: after some ten seconds.
  private static let loggedAttempt = 10
  private static let cleanUpInterval = Duration.seconds(60)
  private static let measurementInterval = Duration.seconds(1)
  /// The backlog is measured again at the earliest after this multiple of the duration of the last measurement.
  private static let measurementRest = 10

  private static let seconds = Timer(label: "entitled_inbox_seconds")
  private static let waiting = Gauge(label: "entitled_inbox_entries")
  private static let oldest = Gauge(label: "entitled_inbox_oldest_seconds")

  /// The outcome of one execution; `nil` if the transaction of its effects stored it or removed the entry. An error of the
  /// ledger means that the entry has to be executed again.
  typealias Execution = Result<ForwardedOutcome?, LedgerError>

  private let logger = Logger(label: "entitled.inbox")
  /// The table of entries and outcomes, which all replicas share.
  let inbox: any Inbox
  /// The handlers by path, without interceptors and without forwarding.
  let calls: [String: Method.AsyncHandler]
  /// The endpoints of the edge that write.
  let routes: WritingRoutes
  /// Ingests notifications that were confirmed before they were stored here.
  let notifications: NotificationInbox
  /// Writes the records of other replicas, together with the outcome of their entry.
  let ledger: EvidenceLedger
  private let leadership: Leadership
  private let checksOnline: Bool
  private let running: Mutex<RunningEntries>
  /// Notifications of apps that only replicas with a newer catalog know, which wait for a leader that knows the app, and
  /// entries that the store refuses. They are tried again after each clean-up.
  let postponed = Mutex<Set<InboxKey>>([])

  /// `checksOnline` is that of ``RunningEntries``.
  init(
    _ inbox: any Inbox, calls: [Method], routes: WritingRoutes, notifications: NotificationInbox,
    ledger: EvidenceLedger, leadership: Leadership, checksOnline: Bool
  ) {
    self.inbox = inbox
    self.checksOnline = checksOnline
    self.leadership = leadership
    running = Mutex(RunningEntries(checksOnline: checksOnline))
    self.routes = routes
    self.notifications = notifications
    self.ledger = ledger
    var handlers: [String: Method.AsyncHandler] = [:]
    for method in calls {
      if case .asyncUnary(let handler) = method.handler { handlers[method.path] = handler }
    }
    self.calls = handlers
  }

  /// Executes entries until the task is cancelled, deletes old outcomes, and measures the backlog.
  ///
  /// - Throws: the error that ended the execution. The other two continue after an error.
  package func run() async throws {
    running.withLock { $0 = RunningEntries(checksOnline: checksOnline) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.executeEntries() }
      group.addTask {
        await self.repeatedly(Self.cleanUpInterval) {
          self.postponed.withLock { $0 = [] }
          try await self.inbox.deleteOldOutcomes()
        }
      }
      group.addTask { await self.measureRepeatedly() }
      try await group.waitForAll()
    }
  }

  private func repeatedly(_ interval: Duration, _ body: () async throws -> Void) async {
    repeat { try? await body() } while (try? await Task.sleep(for: interval)) != nil
  }

  private func measureRepeatedly() async {
    var pause: Duration
    repeat {
      let start = ContinuousClock.now
      try? await measure()
      pause = Self.pause(afterMeasuring: .now - start)
    } while (try? await Task.sleep(for: pause)) != nil
  }

  /// The pause after a measurement of the backlog, or an attempt at one.
  static func pause(afterMeasuring duration: Duration) -> Duration {
    max(measurementInterval, duration * measurementRest)
  }

  private func measure() async throws {
    let (count, oldest) = try await inbox.backlog()
    Self.waiting.record(count)
    Self.oldest.record(Double(oldest) / 1_000)
  }

  /// Executes entries as they arrive, up to ``maxRunning`` at a time, until the task is cancelled.
  private func executeEntries() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let running = self.running.withLock { $0 }
        guard running.count < Self.maxRunning else {
          try await Task.sleep(for: .milliseconds(2))
          continue
        }
        // The database may be away for a moment; a restart of the worker would wait for longer.
        let limit = min(Self.batchSize, Self.maxRunning - running.count)
        let excluded = running.exclusion(with: postponed.withLock { $0 })
        // The next term may have begun before this worker was cancelled: then another run executes them, after the
        // preparation.
        guard let entries = try? await inbox.take(limit, except: excluded), leadership.executesWrites else {
          try await Task.sleep(for: .milliseconds(100))
          continue
        }
        self.running.withLock { $0.insert(entries) }
        for entry in entries {
          group.addTask {
            await self.complete(entry)
            self.running.withLock { $0.remove(entry.key) }
          }
        }
      }
    }
  }

  /// Executes an entry until its outcome is stored, it is postponed, or another replica leads.
  private func complete(_ entry: InboxEntry) async {
    let start = ContinuousClock.now
    let context = ForwardedContext(decoding: entry.context)
    var (attempt, pause) = (1, Duration.milliseconds(20))
    while !Task.isCancelled {
      let execution = await execute(entry, context)
      // The reply of a cancelled handler is no outcome: the next leader executes the entry.
      guard !Task.isCancelled, !postponed.withLock({ $0.contains(entry.key) }) else { return }
      if case .success(let outcome) = execution,
        outcome?.isTemporary != true || (attempt >= Self.attempts && entry.kind == .call)
      {
        guard (try? await store(outcome?.afterAttempts, of: entry, for: context?.outcomeKey)) == nil else {
          break
        }
      }
      if Self.shouldPostpone(execution, after: attempt) {
        log(entry, execution)
        postponed.withLock { _ = $0.insert(entry.key) }
        return
      }
      if attempt == Self.loggedAttempt { log(entry, execution) }
      attempt += 1
      guard (try? await Task.sleep(for: pause)) != nil else { return }
      pause = min(pause * 2, .seconds(5))
    }
    let (whole, attoseconds) = (ContinuousClock.now - start).components
    Self.seconds.recordNanoseconds(whole * 1_000_000_000 + attoseconds / 1_000_000_000)
    Counter(label: "entitled_inbox_entries_total", dimensions: [("kind", entry.kind.rawValue)]).increment()
  }

  /// Whether the place of an entry is needed for others: another attempt fails too, now or for some time.
  private static func shouldPostpone(_ execution: Execution, after attempt: Int) -> Bool {
    switch execution {
    case .failure(.store(.refused)): true
    case .failure(.store(.failed)): attempt >= attempts
    default: false
    }
  }

  private func log(_ entry: InboxEntry, _ execution: Execution) {
    let error =
      switch execution {
      case .success(.failure(let status)?): status.internalMessage
      case .success: "the outcome cannot be stored"
      case .failure(let error): error.description
      }
    logger.warning(
      "inbox entry failed, will retry",
      metadata: [
        "entry": "\(entry.key.id)", "kind": "\(entry.kind.rawValue)", "method": "\(entry.method)",
        "error": "\(error)",
      ])
  }

  /// Logs and counts records of an entry that were left out because the store refuses them.
  func discarded(_ count: Int, of entry: InboxEntry, _ error: LedgerError) {
    Counter(label: "entitled_inbox_discarded_total", dimensions: [("kind", entry.kind.rawValue)])
      .increment(by: count)
    logger.error(
      "records discarded: the store refuses them",
      metadata: ["kind": "\(entry.kind.rawValue)", "records": "\(count)", "error": "\(error)"])
  }

  /// Stores the outcome of an entry, unless the transaction of its effects did.
  private func store(
    _ outcome: ForwardedOutcome?, of entry: InboxEntry, for key: OutcomeKey?
  ) async throws(StoreError) {
    guard let outcome else { return }
    try await inbox.finish(entry.key, key?.seal(outcome) ?? outcome.encoded)
  }
}

extension ForwardedOutcome {
  /// Whether the store failed, and nothing else was wrong.
  fileprivate var isTemporary: Bool {
    if case .failure(let status) = self { status.isTemporary } else { false }
  }

  /// The outcome after the last attempt: an earlier one, of this leader or of one before, may have been committed.
  fileprivate var afterAttempts: ForwardedOutcome {
    if case .failure(let status) = self { .failure(status.afterPossibleEffect) } else { self }
  }
}
