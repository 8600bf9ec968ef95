internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import JSON
package import Ledger
package import Notifications
internal import Store

/// Fills a gap: takes in what Apple's notification history has of a time, then asks about those who were
/// touched, and says of whom something else had been believed.
///
/// How far it came is kept with each step, so that it goes on there after a restart. A step that is done twice
/// changes nothing.
struct GapRepair: Sendable {
  private static let pageSize = 1_000
  private static let queueSize = 1_000

  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let inbox: NotificationInbox
  let lookup: PurchaseLookup
  let app: AppDefinition
  /// Purchases about which Apple was to be asked anyway in the repair's time are asked about in its course.
  let includesPolls: Bool
  let now: @Sendable () -> Instant

  /// Goes on with a repair to its end.
  ///
  /// - Returns: the repair as it is kept, finished.
  /// - Throws: ``LookupError`` if it has to wait; it stays where it was.
  func run(_ repair: Repair) async throws(LookupError) -> Repair {
    var repair = repair
    while true {
      switch repair.phase {
      case .history where repair.reason == .fullPoll: try await queueAll(&repair)
      case .history: try await readHistory(&repair)
      case .customers: try await queryCustomers(&repair)
      case .comparison: try await compare(&repair)
      case .done: return repair
      }
    }
  }

  // MARK: The history

  private func readHistory(_ repair: inout Repair) async throws(LookupError) {
    var filter = NotificationHistoryFilter(startDate: repair.from, endDate: repair.to)
    filter.onlyFailures = repair.onlyFailures
    let client = try lookup.client(for: repair.appID, in: repair.environment)
    do {
      try await client.readNotificationHistory(
        filter, from: repair.pageToken, PagingOptions(priority: .repair)
      ) { page in
        try await take((page.notificationHistory ?? []).compactMap(\.signedPayload), &repair)
        if page.hasMore == true { repair.pageToken = page.paginationToken }
        try await keep(repair)
      }
    } catch let error as AppStoreClientError {
      if case .refused(.paginationTokenExpired, _) = error, repair.pageToken != nil {
        // What was taken in is known when it comes again.
        repair.pageToken = nil
        return
      }
      // An app that gets version 1 alone has no history.
      guard error.isFinal else { throw .appStore(error) }
      repair.error = error.description
    } catch {
      throw LookupError(error)
    }
    repair.pageToken = nil
    repair.phase = .customers
    try await reading { () async throws in
      let (kept, includesPolls) = (repair, includesPolls)
      try await store.write { store throws(StoreError) in
        // What fell due later, such as in a downtime that interrupted this repair, is another's to find and report.
        if includesPolls, !kept.onlyFailures { try store.enqueueDuePolls(by: kept.to, for: kept) }
        try store.put(kept)
      }
    }
  }

  private func take(_ payloads: [String], _ repair: inout Repair) async throws {
    try await prepare(payloads.compactMap(NotificationSubject.init(signedPayload:)), repair)
    let (inbox, appID, receivedAt) = (inbox, repair.appID, now())
    let received = try await withThrowingTaskGroup(of: ReceivedNotification.self) { group in
      for payload in payloads {
        let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
        group.addTask {
          try await inbox.ingest(
            IncomingNotification(
              appID: appID, body: body, source: .appStoreServerAPI, receivedAt: receivedAt))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for notification in received where notification.record.state != .rejected {
      if notification.isDuplicate { repair.alreadyKnown += 1 } else { repair.received += 1 }
    }
  }

  /// Remembers whom the notifications that are not known yet are about, and what is believed of them.
  private func prepare(_ subjects: [NotificationSubject], _ repair: Repair) async throws {
    let lines = try await store.write { store throws(StoreError) in
      var lines: [LineKey] = []
      for subject in subjects {
        guard let number = subject.lineID,
          try store.notification(withUUID: subject.uuid, of: repair.appID, in: repair.environment) == nil
        else { continue }
        let line = LineKey(
          appID: repair.appID, environment: repair.environment, originalTransactionID: number)
        try store.enqueue(line, for: repair.id)
        lines.append(line)
      }
      return lines
    }
    let drifts = try await store.read(.background) { [app, now] reader throws(StoreError) in
      try StateSnapshot(about: lines, in: app, at: now(), reader).drifts
    }
    try await notice(drifts, repair)
  }

  /// Remembers what is believed before Apple is asked, unless it is remembered already.
  func notice(_ drifts: [Drift], _ repair: Repair) async throws {
    guard !drifts.isEmpty else { return }
    try await store.write { store throws(StoreError) in
      for drift in drifts { try store.record(drift, in: repair.id) }
    }
  }

  /// Every purchase that somebody owns waits for its turn.
  private func queueAll(_ repair: inout Repair) async throws(LookupError) {
    try await reading { () async throws in
      repeat {
        repair = try await store.write { [repair] store throws(StoreError) in
          var kept = repair
          kept.pageToken = try store.enqueueOwnedLines(
            after: repair.pageToken, limit: Self.queueSize, for: repair)
          if kept.pageToken == nil { kept.phase = .customers }
          try store.put(kept)
          return kept
        }
      } while repair.phase == .history
    }
  }

  // MARK: The report

  private func compare(_ repair: inout Repair) async throws(LookupError) {
    try await reading { () async throws in
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
      repair.error = repair.queriedPurchases + repair.received > 0 ? "" : repair.error
      try await keep(repair)
    }
  }

  func keep(_ repair: Repair) async throws {
    try await store.write { store throws(StoreError) in try store.put(repair) }
  }

  /// Runs `body`, and says by one type of error what went wrong.
  func reading<Outcome>(_ body: () async throws -> Outcome) async throws(LookupError) -> Outcome {
    do { return try await body() } catch { throw LookupError(error) }
  }
}

extension LookupError {
  /// What was thrown by something that asks Apple or writes what it said.
  init(_ error: any Error) {
    switch error {
    case let error as LookupError: self = error
    case let error as AppStoreClientError: self = .appStore(error)
    case let error as LedgerError: self = .ledger(error)
    case let error as StoreError: self = .ledger(.store(error))
    default: self = .appStore(.cancelled)
    }
  }

  /// Whether asking again would bring the same answer.
  var isFinal: Bool {
    switch self {
    case .appStore(let error): error.isFinal
    case .rejectedDocument: true
    case .noKey, .ledger: false
    }
  }
}

extension AppStoreClientError {
  /// Whether Apple said no to this very request, and will again.
  fileprivate var isFinal: Bool {
    if case .refused(let code, _) = self { !code.isRetryable } else { false }
  }
}
