internal import AppStore
internal import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.NotificationService`: what Apple told, for relays and operators.
struct NotificationService {
  private let reader: any StoreReader
  private let inbox: NotificationInbox
  private let appStore: AppStoreService
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  init(
    reader: any StoreReader, inbox: NotificationInbox, appStore: AppStoreService, catalog: CurrentCatalog,
    now: @escaping @Sendable () -> Instant
  ) {
    self.reader = reader
    self.inbox = inbox
    self.appStore = appStore
    self.catalog = catalog
    self.now = now
  }

  static let name = "entitled.v1.NotificationService"

  var methods: [Method] {
    let (inbox, appStore, catalog, now) = (inbox, appStore, catalog, now)
    return [
      .waitingUnary("/\(Self.name)/IngestNotification") {
        (request: IngestNotificationRequest, _) async throws(Status) in
        try await Self.ingest(request, inbox, catalog, now)
      },
      .unary("/\(Self.name)/ListNotifications") {
        (request: ListNotificationsRequest, _) throws(Status) in try list(request)
      },
      .waitingUnary("/\(Self.name)/RequestTestNotification") {
        (request: RequestTestNotificationRequest, context) async throws(Status) in
        try await appStore.requestTest(request.by(context), context)
      },
    ]
  }

  private static func ingest(
    _ request: IngestNotificationRequest, _ inbox: NotificationInbox, _ catalog: CurrentCatalog,
    _ now: @escaping @Sendable () -> Instant
  ) async throws(Status) -> IngestNotificationResponse {
    let app = try catalog.value.app(request.app)
    guard !request.body.isEmpty else {
      throw Status(.invalidArgument, reason: "MISSING_FIELD", "body is empty", field: "body")
    }
    let receivedAt = try request.receivedAt.map { time throws(Status) in try Instant(time, "received_at") }
    do throws(LedgerError) {
      let received = try await inbox.ingest(
        IncomingNotification(
          appID: app.id, body: request.body, source: .relay, receivedAt: receivedAt ?? now()))
      return .with {
        $0.notification = Wire.Notification(
          received.record, customerID: received.customerID, problem: received.problem)
        $0.alreadyKnown = received.isDuplicate
      }
    } catch {
      throw Status(error)
    }
  }

  private func list(_ request: ListNotificationsRequest) throws(Status) -> ListNotificationsResponse {
    let app = try catalog.value.app(request.app)
    let size = try RequestValidation.pageSize(request.pageSize)
    var query = NotificationFilter(appID: app.id, limit: size + 1)
    if request.environment != .unspecified { query.environment = try app.environment(request.environment) }
    query.customerID = request.customerId.given
    query.type = request.notificationType.given
    query.state = NotificationState(request.state)
    query.from = try request.from.map { time throws(Status) in try Instant(time, "from") }
    query.to = try request.to.map { time throws(Status) in try Instant(time, "to") }
    if let token = request.pageToken.given {
      guard let number = Int64(token), number > 0 else {
        throw .invalidPageToken
      }
      query.before = EvidenceID(rawValue: number)
    }
    do throws(StoreError) {
      let found = try reader.notifications(query)
      let page = found.prefix(size)
      let notifications = try page.map { record throws(StoreError) in
        Wire.Notification(record, customerID: try owner(of: record))
      }
      return .with {
        $0.notifications = notifications
        if found.count > size { $0.nextPageToken = page.last.map { String($0.evidenceID.rawValue) } ?? "" }
      }
    } catch {
      throw Status(error)
    }
  }

  private func owner(of record: NotificationRecord) throws(StoreError) -> String? {
    guard let environment = record.environment, !record.originalTransactionID.isEmpty else { return nil }
    return try reader.owners(
      of: LineKey(
        appID: record.appID, environment: environment, originalTransactionID: record.originalTransactionID)
    ).first
  }
}

extension CallContext {
  /// How long the caller waits for what is asked of Apple on its behalf; `nil` if it did not say.
  var patience: Duration? { timeout.map { .nanoseconds($0.nanoseconds) } }
}
