internal import AppStore
internal import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
internal import Store
internal import Wire

/// `Replay` of `entitled.v1.NotificationService`: kept notifications, interpreted again.
struct ReprocessService: Sendable {
  private static let pageSize = 200
  /// How many of those that changed are told.
  private static let toldChanges = 100
  private static let leftNoTrace: [Store.NotificationState] = [.unsupported, .rejected, .unconfirmed]

  private let store: any EntitlementStore
  private let inbox: NotificationInbox
  private let catalog: CurrentCatalog

  init(store: any EntitlementStore, inbox: NotificationInbox, catalog: CurrentCatalog) {
    self.store = store
    self.inbox = inbox
    self.catalog = catalog
  }

  var methods: [Method] {
    [
      .waitingUnary("/\(NotificationService.name)/ReprocessNotifications") {
        (request: ReprocessNotificationsRequest, _) async throws(Status) in try await replay(request)
      }
    ]
  }

  private func replay(_ request: ReprocessNotificationsRequest) async throws(Status)
    -> ReprocessNotificationsResponse
  {
    let app = try catalog.value.app(request.app)
    let from = try request.from.map { time throws(Status) in try Instant(time, "from") }
    let to = try request.to.map { time throws(Status) in try Instant(time, "to") }
    let wanted = Set(request.evidenceIds)
    let states = NotificationState(request.state).map { [$0] } ?? Self.leftNoTrace
    let replay = NotificationReprocessor(inbox: inbox, isDryRun: request.dryRun)
    var response = ReprocessNotificationsResponse()
    // Those that are chosen one by one are looked for in every state.
    for state in wanted.isEmpty ? states : Store.NotificationState.allCases {
      var query = NotificationFilter(appID: app.id, limit: Self.pageSize)
      (query.state, query.from, query.to) = (state, from, to)
      while let page = try await self.page(query) {
        for (record, evidence) in page where wanted.isEmpty || wanted.contains(record.evidenceID.rawValue) {
          let outcome = try await told { () async throws(LedgerError) in
            try await replay.run(record, evidence)
          }
          response.count(outcome, told: Self.toldChanges)
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
    do throws(StoreError) {
      let reader = try store.makeReader()
      defer { reader.endTurn() }
      var page: [(NotificationRecord, StoredEvidence)] = []
      for record in try reader.notifications(query) {
        guard let evidence = try reader.evidence(record.evidenceID) else { continue }
        page.append((record, evidence))
      }
      return page.isEmpty ? nil : page
    } catch {
      throw Status(error)
    }
  }
}

extension ReprocessNotificationsResponse {
  fileprivate mutating func count(_ outcome: NotificationReprocessor.Outcome, told: Int) {
    reprocessed += 1
    if outcome.record.state == .unsupported { unsupported += 1 }
    guard outcome.isChanged else { return }
    changed += 1
    if changes.count < told { changes.append(Wire.Notification(outcome.record, customerID: nil)) }
  }
}
