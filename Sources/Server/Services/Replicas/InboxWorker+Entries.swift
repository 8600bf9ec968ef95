internal import AppStore
internal import Callers
internal import CustomerImport
internal import HTTP
internal import Ledger
internal import Notifications
internal import RPC
internal import Store
internal import Synchronization
internal import Telemetry
internal import Tracing

// The execution of an entry by its kind.
extension InboxWorker {
  /// Executes an entry once. `context` is that of the entry; `nil` if it cannot be read.
  func execute(_ entry: InboxEntry, _ context: ForwardedContext?) async -> Execution {
    guard let context else { return .success(Self.unreadable) }
    let (service, span) = Self.trace(of: entry, context)
    let execution: Execution = await InstrumentationContext.$current.withValue(service) {
      switch entry.kind {
      case .call: .success(await call(entry, context))
      case .request: await respond(to: context.request(entry.method, entry.body))
      case .notification: await ingest(entry, context)
      case .audit: await append(entry)
      case .retention: await appendRequests(entry)
      case .importedEvent: await appendEvent(entry, context)
      }
    }
    if case .success(.failure(let status)?) = execution { span?.fail(status) }
    span?.end()
    return execution
  }

  /// Responds to a request of the edge. A notification is tried again while the store does not take it, since Apple would send it again only after an hour.
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

  /// Runs the handler of a call as its caller.
  private func call(_ entry: InboxEntry, _ context: ForwardedContext) async -> ForwardedOutcome {
    guard let handler = calls[entry.method] else {
      return .failure(Status(.unimplemented, "the leader has no method '\(entry.method)'"))
    }
    let scope = CallScope(caller: context.caller, idempotencyKey: "inbox/\(entry.key.token)")
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
    return (InstrumentationContext(TraceContext(following: parent)), nil)
  }

  /// Ingests a notification whose sender has got the status 200, so the worker repeats this until it is stored or rejected.
  private func ingest(_ entry: InboxEntry, _ context: ForwardedContext) async -> Execution {
    var notification = IncomingNotification(
      appID: NotificationEndpoint.appID(ofPath: entry.method), body: entry.body, source: .notification,
      receivedAt: context.receivedAt)
    notification.seal = context.seal
    notification.extra = { [inbox] transaction throws(StoreError) in
      try inbox.remove(entry.key, in: transaction)
    }
    do throws(LedgerError) {
      let received = try await notifications.ingest(notification)
      NotificationMetrics.count(received)
      return .success(received.includesExtra ? nil : .done)
    } catch {
      switch error {
      case .unknownApp: postponed.withLock { _ = $0.insert(entry.key) }
      // It does not verify here, which is counted, and the day has no room for more of these: as if its sender, who does not
      // wait any more, had got the status 429.
      case .tooManyRejections: return .success(.done)
      default: break
      }
      return .failure(error)
    }
  }

  /// Stores audit entries of another replica.
  private func append(_ entry: InboxEntry) async -> Execution {
    guard let entries = [AuditEntry](decoding: entry.body) else { return .success(Self.unreadable) }
    return await appendAccepted(entries, of: entry) { records, isDryRun throws(LedgerError) in
      // Only the entry shows whether they are stored.
      try await ledger.append(records, isDryRun: isDryRun) { [inbox] transaction throws(StoreError) in
        try inbox.finish(entry.key, ForwardedOutcome.done.encoded, in: transaction)
      }
    }
  }

  /// Stores requests for retention messages that another replica answered.
  private func appendRequests(_ entry: InboxEntry) async -> Execution {
    guard let requests = [RetentionRequestRecord](decoding: entry.body) else {
      return .success(Self.unreadable)
    }
    return await appendAccepted(requests, of: entry) { records, isDryRun throws(LedgerError) in
      try await ledger.append(records, isDryRun: isDryRun) { [inbox] transaction throws(StoreError) in
        _ = try inbox.finish(entry.key, ForwardedOutcome.done.encoded, in: transaction)
      }
    }
  }

  /// Stores `records` together with the outcome of their entry. If the store refuses them, dry runs find those that it
  /// refuses singly, and the others are stored without them.
  private func appendAccepted<Record: Sendable>(
    _ records: [Record], of entry: InboxEntry,
    append: ([Record], _ isDryRun: Bool) async throws(LedgerError) -> Void
  ) async -> Execution {
    await Self.execution { () async throws(LedgerError) in
      do throws(LedgerError) { try await append(records, false) } catch {
        guard error.isRefusal else { throw error }
        var accepted: [Record] = []
        for record in records {
          do throws(LedgerError) {
            try await append([record], true)
            accepted.append(record)
          } catch {
            guard error.isRefusal else { throw error }
          }
        }
        guard accepted.count < records.count else { throw error }
        try await append(accepted, false)
        discarded(records.count - accepted.count, of: entry, error)
      }
    }
  }

  /// Stores an event of RevenueCat's that another replica authenticated.
  private func appendEvent(_ entry: InboxEntry, _ context: ForwardedContext) async -> Execution {
    guard let event = try? RevenueCatEvent(entry.body), let receivedAt = context.receivedAt else {
      return .success(Self.unreadable)
    }
    let imported = ImportedEvent(event, of: entry.appID, receivedAt: receivedAt, body: entry.body)
    return await Self.execution { () async throws(LedgerError) in
      _ = try await ledger.append(imported) { [inbox] transaction throws(StoreError) in
        _ = try inbox.finish(entry.key, ForwardedOutcome.done.encoded, in: transaction)
      }
    }
  }

  /// The execution of an entry that `write` stores together with its outcome.
  private static func execution(_ write: () async throws(LedgerError) -> Void) async -> Execution {
    do throws(LedgerError) {
      try await write()
      return .success(nil)
    } catch {
      return .failure(error)
    }
  }
}

extension LedgerError {
  /// Whether the store refuses the data, now and later.
  fileprivate var isRefusal: Bool { if case .store(.refused) = self { true } else { false } }
}
