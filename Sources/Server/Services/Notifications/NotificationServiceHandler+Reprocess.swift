internal import AppStore
internal import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
internal import Store
internal import Wire

// Stored notifications, decoded again.
extension NotificationServiceHandler {
  private static let reprocessPageSize = 200
  /// The maximum number of changed notifications in a response.
  private static let maxReportedChanges = 100

  /// Decodes stored notifications again, page by page and in order of arrival, as they had been decoded then: a later
  /// one that is decoded first would supersede the earlier ones. Each page is a separate read, and each notification a
  /// separate write, so a call that ends at its deadline keeps what it has done.
  func reprocessNotifications(
    _ request: ReprocessNotificationsRequest, _ call: CallContext
  ) async throws(Status) -> ReprocessNotificationsResponse {
    let selection = try NotificationSelection(request, of: try context.catalog.value.app(request.app).id)
    let replay = NotificationReprocessor(inbox: context.intake.notifications, isDryRun: request.dryRun)
    var response = ReprocessNotificationsResponse()
    var remaining = try await evidence(of: selection)[...]
    while !remaining.isEmpty {
      for (record, evidence) in try await notifications(
        remaining.prefix(Self.reprocessPageSize), of: selection)
      {
        let outcome = try await mapLedgerError { () async throws(LedgerError) in
          try await replay.run(record, evidence)
        }
        response.count(outcome, limit: Self.maxReportedChanges)
      }
      remaining = remaining.dropFirst(Self.reprocessPageSize)
    }
    return response
  }

  /// The evidence of the selected notifications, in order of arrival.
  private func evidence(of selection: NotificationSelection) async throws(Status) -> [EvidenceID] {
    if !selection.named.isEmpty { return selection.named }
    var found: [EvidenceID] = []
    for state in selection.states {
      var query = NotificationFilter(appID: selection.appID, limit: Self.reprocessPageSize)
      (query.state, query.from, query.to) = (state, selection.from, selection.to)
      repeat {
        let page = try await context.read { [query] reader throws(StoreError) in
          try reader.notifications(query).map(\.evidenceID)
        }
        found += page
        query.before = page.last
      } while query.before != nil
    }
    return found.sorted { $0.rawValue < $1.rawValue }
  }

  /// Notifications with their bodies, without those that are not of the selection.
  private func notifications(
    _ ids: ArraySlice<EvidenceID>, of selection: NotificationSelection
  ) async throws(Status) -> [(NotificationRecord, StoredEvidence)] {
    try await context.read { reader throws(StoreError) in
      var page: [(NotificationRecord, StoredEvidence)] = []
      for id in ids {
        guard let record = try reader.notification(id), selection.contains(record),
          let evidence = try reader.evidence(id)
        else { continue }
        page.append((record, evidence))
      }
      return page
    }
  }
}

/// The notifications that a request selects.
private struct NotificationSelection: Sendable {
  let appID: String
  /// The evidence ids that the request names, ascending: they are reprocessed in every state.
  let named: [EvidenceID]
  let states: [Store.NotificationState]
  let from: Instant?
  let to: Instant?

  /// - Throws: `INVALID_ARGUMENT` for a time or a state that cannot be.
  init(_ request: ReprocessNotificationsRequest, of appID: String) throws(Status) {
    self.appID = appID
    named = Set(request.evidenceIds).sorted().map(EvidenceID.init(rawValue:))
    // Those that another version of the program may decide otherwise.
    states = try NotificationState(request.state).map { [$0] } ?? [.unsupported, .rejected, .unconfirmed]
    from = try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
    to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") }
  }

  /// Whether a notification is of the app and arrived in the range.
  func contains(_ record: NotificationRecord) -> Bool {
    record.appID == appID && from.map { record.receivedAt >= $0 } ?? true
      && to.map { record.receivedAt < $0 } ?? true
  }
}

extension ReprocessNotificationsResponse {
  /// Adds an outcome to the counts; at most `limit` changed notifications are in the response.
  fileprivate mutating func count(_ outcome: NotificationReprocessor.Outcome, limit: Int) {
    reprocessed += 1
    if outcome.record.state == .unsupported { unsupported += 1 }
    guard outcome.isChanged else { return }
    changed += 1
    if changes.count < limit { changes.append(Wire.Notification(outcome.record, customerID: nil)) }
  }
}
