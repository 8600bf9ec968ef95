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
  /// The states that another version of the program may decide otherwise.
  private static let statesWithoutEffect: [Store.NotificationState] = [.unsupported, .rejected, .unconfirmed]

  /// Decodes stored notifications again, page by page, newest first within a state. Each page is a separate read, and
  /// each notification a separate write, so a call that ends at its deadline keeps what it has done.
  func reprocessNotifications(
    _ request: ReprocessNotificationsRequest, _ call: CallContext
  ) async throws(Status) -> ReprocessNotificationsResponse {
    let app = try context.catalog.value.app(request.app)
    let from = try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
    let to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") }
    let wanted = Set(request.evidenceIds)
    let states = try NotificationState(request.state).map { [$0] } ?? Self.statesWithoutEffect
    let replay = NotificationReprocessor(inbox: context.intake.notifications, isDryRun: request.dryRun)
    var response = ReprocessNotificationsResponse()
    // Notifications that the request names are searched in every state.
    for state in wanted.isEmpty ? states : Store.NotificationState.allCases {
      var query = NotificationFilter(appID: app.id, limit: Self.reprocessPageSize)
      (query.state, query.from, query.to) = (state, from, to)
      while let page = try await self.page(query) {
        for (record, evidence) in page where wanted.isEmpty || wanted.contains(record.evidenceID.rawValue) {
          let outcome = try await mapLedgerError { () async throws(LedgerError) in
            try await replay.run(record, evidence)
          }
          response.count(outcome, limit: Self.maxReportedChanges)
        }
        query.before = page.last?.0.evidenceID
      }
    }
    return response
  }

  /// A page of notifications with their bodies; `nil` if there are no more.
  private func page(
    _ query: NotificationFilter
  ) async throws(Status) -> [(NotificationRecord, StoredEvidence)]? {
    try await context.read { reader throws(StoreError) in
      var page: [(NotificationRecord, StoredEvidence)] = []
      for record in try reader.notifications(query) {
        guard let evidence = try reader.evidence(record.evidenceID) else { continue }
        page.append((record, evidence))
      }
      return page.isEmpty ? nil : page
    }
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
