internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import JSON
internal import Ledger
internal import Notifications
internal import Store

/// Runs one repair: ingests Apple's notification history of a time span, then looks up the purchases concerned, and
/// reports the customers whose stored state has drifted.
///
/// Each step stores its progress, so that the repair resumes after a restart. Repeating a step changes nothing.
struct GapRepair: Sendable {
  /// The number of drifts that one transaction compares.
  private static let pageSize = 1_000
  /// The number of purchases that one write of a full poll queues.
  private static let queueSize = 1_000

  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let inbox: NotificationInbox
  let lookup: PurchaseLookup
  let positions: HistoryPositions
  let app: AppDefinition
  /// Whether the repair also runs the status polls that were due in its time span.
  let includesPolls: Bool
  /// Whether purchases that fail again are left out, so that the repair ends.
  let isLastAttempt: Bool
  /// The clock of the environment, which a sandbox may set.
  let now: @Sendable () -> Instant

  /// Runs a repair from its stored phase, and returns it as finished; or as unfinished, with an error that names them,
  /// if only purchases remain whose lookups failed and may succeed later.
  ///
  /// - Throws: the first ``ReconciliationError`` that concerns more than one purchase. The stored progress is that before
  ///   the failed step.
  func run(_ repair: Repair) async throws(ReconciliationError) -> Repair {
    var repair = repair
    while true {
      switch repair.phase {
      case .history where repair.reason == .fullPoll: try await queueAll(&repair)
      case .history: try await readHistory(&repair)
      case .customers: guard try await queryCustomers(&repair) else { return repair }
      case .comparison: try await compare(&repair)
      case .done: return repair
      }
    }
  }

  // MARK: History

  /// Ingests the notifications of the gap from Apple's history. Progress is saved with each page, so an interrupted
  /// repair resumes there; a token that expired begins the history again. A permanent refusal is stored as
  /// ``Repair/partialError`` and does not end the repair: the purchases are looked up without the history, and the
  /// watermark does not advance.
  private func readHistory(_ repair: inout Repair) async throws(ReconciliationError) {
    var filter = NotificationHistoryFilter(startDate: repair.from, endDate: repair.to)
    filter.onlyFailures = repair.onlyFailures
    let client: AppStoreServerClient
    do throws(LookupError) {
      client = try lookup.client(for: repair.appID, in: repair.environment)
    } catch {
      throw .lookup(error)
    }
    var pages = client.notificationHistory(filter, from: repair.pageToken, PagingOptions(priority: .repair))
    do {
      while let page = try await pages.next() {
        try await ingest((page.notificationHistory ?? []).compactMap(\.signedPayload), &repair)
        if page.hasMore == true { repair.pageToken = page.paginationToken }
        try await save(repair)
      }
    } catch AppStoreClientError.refused(.paginationTokenExpired, _) where repair.pageToken != nil {
      // Start over; what was ingested before is a duplicate then.
      repair.pageToken = nil
      return
    } catch AppStoreClientError.refused(let code, let message) where !code.isRetryable {
      // An app that receives version 1 only has no history.
      repair.partialError = AppStoreClientError.refused(code, message: message).description
    } catch {
      throw ReconciliationError(error)
    }
    try await finishHistory(&repair)
  }

  /// Begins the lookup of the purchases, with those whose polls were due in the time span if the repair includes them.
  private func finishHistory(_ repair: inout Repair) async throws(ReconciliationError) {
    repair.pageToken = nil
    repair.error = ""
    repair.phase = .customers
    try await mapErrors { () async throws in
      let (current, includesPolls) = (repair, includesPolls)
      try await store.write { store throws(StoreError) in
        // Polls that became due later, such as while this repair was interrupted, belong to another repair.
        if includesPolls, !current.onlyFailures { try store.enqueueDuePolls(by: current.to, for: current) }
        try store.put(current)
        if current.partialError.isEmpty { try store.recordReadHistory(of: current) }
      }
    }
  }

  /// Ingests the notifications of a page concurrently, and counts those that were new. Before that it records the state
  /// of their customers, so that the drift report has what was wrong.
  private func ingest(_ payloads: [String], _ repair: inout Repair) async throws {
    try await prepare(payloads.compactMap(NotificationSubject.init(signedPayload:)), repair)
    let (inbox, appID) = (inbox, repair.appID)
    let received = try await withThrowingTaskGroup(of: ReceivedNotification.self) { group in
      for payload in payloads {
        let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
        group.addTask {
          try await inbox.ingest(
            IncomingNotification(appID: appID, body: body, source: .appStoreServerAPI))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for notification in received where notification.record.state != .rejected {
      if notification.isDuplicate { repair.alreadyKnown += 1 } else { repair.received += 1 }
    }
  }

  /// Queues the lines of notifications that are not stored yet, and records the state of their customers.
  private func prepare(_ subjects: [NotificationSubject], _ repair: Repair) async throws {
    let lines = try await store.write { store throws(StoreError) in
      var lines: [LineKey] = []
      for subject in subjects {
        guard let lineID = subject.lineID,
          try store.notification(withUUID: subject.uuid, of: repair.appID, in: repair.environment) == nil
        else { continue }
        let line = LineKey(
          appID: repair.appID, environment: repair.environment, lineID: lineID)
        try store.enqueue(line, for: repair.id)
        lines.append(line)
      }
      return lines
    }
    let drifts = try await store.read(.background) { [app, now] reader throws(StoreError) in
      try StateSnapshot(about: lines, in: app, at: now(), reader).drifts
    }
    try await record(drifts, repair)
  }

  /// Records the state before the lookup, unless it is recorded already.
  func record(_ drifts: [Drift], _ repair: Repair) async throws {
    guard !drifts.isEmpty else { return }
    try await store.write { store throws(StoreError) in
      for drift in drifts { try store.record(drift, in: repair.id) }
    }
  }

  /// Queues all purchases that have an owner, a page in each write, and moves the repair to the lookup.
  private func queueAll(_ repair: inout Repair) async throws(ReconciliationError) {
    try await mapErrors { () async throws in
      repeat {
        repair = try await store.write { [repair] store throws(StoreError) in
          var next = repair
          next.pageToken = try store.enqueueOwnedLines(
            after: repair.pageToken, limit: Self.queueSize, for: repair)
          if next.pageToken == nil { next.phase = .customers }
          try store.put(next)
          return next
        }
      } while repair.phase == .history
    }
  }

  // MARK: Drift report

  /// Compares the states of the customers before and after the repair, confirms real drifts and discards the others.
  private func compare(_ repair: inout Repair) async throws(ReconciliationError) {
    try await mapErrors { () async throws in
      var last: Drift.Key?
      while true {
        let compared = try await store.read(.background) { [repair, last, app] reader throws(StoreError) in
          let page = try reader.drifts(of: repair, after: last, limit: Self.pageSize)
          return try Drift.compared(page, in: app, reader)
        }
        try await store.write { [repair] store throws(StoreError) in
          for drift in compared {
            if drift.hasDrifted {
              try store.confirm(drift, in: repair.id)
            } else {
              try store.discard(drift, from: repair.id)
            }
          }
        }
        last = compared.last?.key
        if compared.count < Self.pageSize { break }
      }
      repair.phase = .done
      repair.finishedAt = now()
      repair.error = ""
      try await save(repair)
    }
  }

  /// Stores the progress of a repair.
  func save(_ repair: Repair) async throws {
    try await store.write { store throws(StoreError) in try store.put(repair) }
  }

  /// Runs a step whose child tasks throw untyped errors, and throws them as ``ReconciliationError``.
  func mapErrors<Value>(_ body: () async throws -> Value) async throws(ReconciliationError) -> Value {
    do { return try await body() } catch { throw ReconciliationError(error) }
  }
}

extension StoreTransaction {
  /// Lets the watermark advance over the time span of a repair whose history was read.
  fileprivate func recordReadHistory(of repair: Repair) throws(StoreError) {
    guard repair.from < repair.to,
      var watermark = try deliveryWatermark(of: repair.appID, in: repair.environment)
    else { return }
    watermark.read(repair.from..<repair.to, onlyFailures: repair.onlyFailures)
    try put(watermark, of: repair.appID, in: repair.environment)
  }
}
