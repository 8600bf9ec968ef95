internal import AppStore
internal import Callers
internal import CustomerImport
internal import HTTP
internal import JSON
internal import Ledger
internal import Logging
internal import Metrics
internal import Notifications
internal import Platform
internal import RPC
internal import Store
internal import Synchronization
internal import Telemetry
internal import Tracing

/// Executes what other replicas hand to the leader, many entries at once, so that their writes share commits.
///
/// An entry without outcome after a takeover is executed again. A call has an idempotency key for that: its own, or the
/// token of its entry, which no caller can guess. All others are idempotent by their content.
package final class InboxWorker: Worker {
  package let name = "inbox"

  private static let maxRunning = 256
  private static let batch = 64
  /// Attempts at a call that the store fails, before the caller gets the error: about a second. While the database is away,
  /// the outcome cannot be stored either, so there are more.
  private static let attempts = 6
  /// The attempt after which an entry that fails again and again is logged: after some ten seconds.
  private static let loggedAttempt = 10
  private static let cleanUp = Duration.seconds(60)
  private static let measurement = Duration.seconds(1)

  private static let seconds = Timer(label: "entitled_inbox_seconds")
  private static let waiting = Gauge(label: "entitled_inbox_entries")
  private static let oldest = Gauge(label: "entitled_inbox_oldest_seconds")

  /// `LedgerError`: the entry has to be executed again.
  private typealias Execution = Result<ForwardedOutcome, LedgerError>

  private let logger = Logger(label: "entitled.inbox")
  private let inbox: any Inbox
  private let calls: [String: Method.AsyncHandler]
  private let routes: WritingRoutes
  private let notifications: NotificationInbox
  private let ledger: EvidenceLedger
  private let running = Mutex<Set<Int64>>([])
  /// Notifications of apps that only replicas with a newer catalog know. They wait for a leader that knows the app, and
  /// are tried again after each ``cleanUp``.
  private let postponed = Mutex<Set<Int64>>([])

  init(
    _ inbox: any Inbox, calls: [Method], routes: WritingRoutes, notifications: NotificationInbox,
    ledger: EvidenceLedger
  ) {
    self.inbox = inbox
    self.routes = routes
    self.notifications = notifications
    self.ledger = ledger
    var handlers: [String: Method.AsyncHandler] = [:]
    for method in calls {
      if case .asyncUnary(let handler) = method.handler { handlers[method.path] = handler }
    }
    self.calls = handlers
  }

  package func run() async throws {
    running.withLock { $0 = [] }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.executeEntries() }
      group.addTask {
        await self.repeatedly(Self.cleanUp) {
          self.postponed.withLock { $0 = [] }
          try await self.inbox.deleteOldOutcomes()
        }
      }
      group.addTask { await self.repeatedly(Self.measurement) { try await self.measure() } }
      try await group.waitForAll()
    }
  }

  private func repeatedly(_ interval: Duration, _ body: () async throws -> Void) async {
    repeat { try? await body() } while (try? await Task.sleep(for: interval)) != nil
  }

  private func measure() async throws {
    let (count, oldest) = try await inbox.backlog()
    Self.waiting.record(count)
    Self.oldest.record(Double(oldest) / 1_000)
  }

  private func executeEntries() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let taken = running.withLock { $0 }
        guard taken.count < Self.maxRunning else {
          try await Task.sleep(for: .milliseconds(2))
          continue
        }
        // The database may be away for a moment; a restart of the worker would wait for longer.
        let limit = min(Self.batch, Self.maxRunning - taken.count)
        let others = postponed.withLock { $0 }
        guard let entries = try? await inbox.take(limit, except: taken.union(others)) else {
          try await Task.sleep(for: .milliseconds(100))
          continue
        }
        running.withLock { $0.formUnion(entries.map(\.id)) }
        for entry in entries {
          group.addTask {
            await self.complete(entry)
            self.running.withLock { _ = $0.remove(entry.id) }
          }
        }
      }
    }
  }

  /// Executes an entry until its outcome is stored, it is postponed, or another replica leads.
  private func complete(_ entry: InboxEntry) async {
    let start = ContinuousClock.now
    var (attempt, pause) = (1, Duration.milliseconds(20))
    while !Task.isCancelled {
      let execution = await execute(entry)
      // The reply of a cancelled handler is no outcome: the next leader executes the entry.
      guard !Task.isCancelled, !postponed.withLock({ $0.contains(entry.id) }) else { return }
      if case .success(let outcome) = execution,
        !outcome.isTemporary || (attempt >= Self.attempts && entry.kind == .call)
      {
        guard (try? await store(outcome.afterAttempts, of: entry)) == nil else { break }
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

  private func log(_ entry: InboxEntry, _ execution: Execution) {
    let error =
      switch execution {
      case .success(.failure(let status)): status.internalMessage
      case .success: "the outcome cannot be stored"
      case .failure(let error): error.description
      }
    logger.warning(
      "inbox entry failed, will retry",
      metadata: [
        "entry": "\(entry.id)", "kind": "\(entry.kind.rawValue)", "method": "\(entry.method)",
        "error": "\(error)",
      ])
  }

  /// Audit entries, requests for retention messages and imported events have theirs already, in the transaction that
  /// stored them.
  private func store(_ outcome: ForwardedOutcome, of entry: InboxEntry) async throws(StoreError) {
    if [.audit, .retention, .importedEvent].contains(entry.kind), case .done = outcome { return }
    try await inbox.finish(entry.id, outcome.encoded)
  }

  /// Executes an entry once.
  private func execute(_ entry: InboxEntry) async -> Execution {
    guard let context = ForwardedContext(decoding: entry.context) else {
      return .success(Self.unreadable)
    }
    let (service, span) = Self.trace(of: entry, context)
    let execution: Execution = await InstrumentationContext.$current.withValue(service) {
      switch entry.kind {
      case .call: .success(await execute(entry, context))
      case .request: await respond(to: context.request(entry.method, entry.body))
      case .notification: await ingest(entry, context)
      case .audit: await append(entry)
      case .retention: await appendRequests(entry)
      case .importedEvent: await appendEvent(entry, context)
      }
    }
    if case .success(.failure(let status)) = execution { span?.fail(status) }
    span?.end()
    return execution
  }

  /// A notification is tried again while the store does not take it, since Apple would send it again only after an hour.
  private func respond(to request: HTTPRequest) async -> Execution {
    guard let endpoint = routes.notificationEndpoint(for: request) else {
      return .success(.response(await routes.respond(to: request)))
    }
    do throws(LedgerError) {
      return .success(.response(try await endpoint.ingest(request)))
    } catch {
      return error.isPassing ? .failure(error) : .success(.response(endpoint.answer(to: error, request)))
    }
  }

  private static let unreadable = ForwardedOutcome.failure(
    Status(.internalError, "the leader cannot read the entry; does it run another version?"))

  private func execute(_ entry: InboxEntry, _ context: ForwardedContext) async -> ForwardedOutcome {
    guard let handler = calls[entry.method] else {
      return .failure(Status(.unimplemented, "the leader has no method '\(entry.method)'"))
    }
    let scope = CallScope(caller: context.caller, idempotencyKey: entry.token.map { "inbox/\($0)" })
    let call = context.call
    let result: Result<Reply, Status> = await CallScope.$current.withValue(scope) {
      do throws(Status) {
        let work = try entry.body.withUnsafeBufferPointer { bytes throws(Status) in
          try handler(UnsafeRawBufferPointer(bytes), call)
        }
        return .success(try await work())
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let reply):
      var subject = CallInFlight.Subject()
      scope.add(to: &subject)
      return .reply(reply, shown: subject.customers, subject: subject.other)
    case .failure(let status): return .failure(status)
    }
  }

  /// Continues the trace of the replica where the call arrived, which has decided whether it is recorded.
  private static func trace(
    of entry: InboxEntry, _ context: ForwardedContext
  ) -> (context: InstrumentationContext, span: RecordedSpan?) {
    let parent = context.trace.flatMap { TraceParent($0) }
    if let tracer = RecordingTracer.installed, let parent, parent.isSampled {
      let span = tracer.startCall("inbox \(entry.method)", .consumer, continuing: parent, isSampled: true)
      return (span.context, span)
    }
    var random = SystemRandomNumberGenerator()
    return (InstrumentationContext(TraceContext(following: parent, using: &random)), nil)
  }

  /// The sender has its 200, so the notification is ingested until that succeeds.
  private func ingest(_ entry: InboxEntry, _ context: ForwardedContext) async -> Execution {
    var notification = IncomingNotification(
      appID: NotificationEndpoint.appID(ofPath: entry.method), body: entry.body, source: .notification,
      receivedAt: context.receivedAt)
    notification.seal = context.seal
    do throws(LedgerError) {
      NotificationMetrics.count(try await notifications.ingest(notification))
      return .success(.done)
    } catch {
      if case .unknownApp = error { postponed.withLock { _ = $0.insert(entry.id) } }
      return .failure(error)
    }
  }

  private func append(_ entry: InboxEntry) async -> Execution {
    guard let entries = [AuditEntry](decoding: entry.body) else { return .success(Self.unreadable) }
    do throws(LedgerError) {
      // Only the entry shows whether they are stored.
      try await ledger.append(entries) { [inbox] transaction throws(StoreError) in
        try inbox.finish(entry.id, ForwardedOutcome.done.encoded, in: transaction)
      }
      return .success(.done)
    } catch {
      return .failure(error)
    }
  }
}

extension InboxWorker {
  /// Stores requests for retention messages that another replica answered.
  private func appendRequests(_ entry: InboxEntry) async -> Execution {
    guard let requests = [RetentionRequestRecord](decoding: entry.body) else {
      return .success(Self.unreadable)
    }
    do throws(LedgerError) {
      try await ledger.append(requests) { [inbox] transaction throws(StoreError) in
        _ = try inbox.finish(entry.id, ForwardedOutcome.done.encoded, in: transaction)
      }
      return .success(.done)
    } catch {
      return .failure(error)
    }
  }
}

extension InboxWorker {
  /// Stores an event of RevenueCat's that another replica authenticated.
  private func appendEvent(_ entry: InboxEntry, _ context: ForwardedContext) async -> Execution {
    guard let event = try? RevenueCatEvent(entry.body), let receivedAt = context.receivedAt else {
      return .success(Self.unreadable)
    }
    let imported = ImportedEvent(event, of: entry.appID, receivedAt: receivedAt, body: entry.body)
    do throws(LedgerError) {
      _ = try await ledger.append(imported) { [inbox] transaction throws(StoreError) in
        _ = try inbox.finish(entry.id, ForwardedOutcome.done.encoded, in: transaction)
      }
      return .success(.done)
    } catch {
      return .failure(error)
    }
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
