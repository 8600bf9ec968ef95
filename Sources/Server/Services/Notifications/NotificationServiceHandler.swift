internal import AppStore
internal import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.NotificationService`: App Store Server Notifications, for relays and operators.
struct NotificationServiceHandler: NotificationServiceMethods {
  let context: ServiceContext
  private let appStore: AppStoreServiceHandler

  init(_ context: ServiceContext, appStore: AppStoreServiceHandler) {
    self.context = context
    self.appStore = appStore
  }

  /// Calls Apple by ``AppStoreServiceHandler/requestTest(_:_:)``, which has the client and the records of such calls.
  func requestTestNotification(
    _ request: RequestTestNotificationRequest, _ call: CallContext
  ) async throws(Status) -> RequestTestNotificationResponse {
    try await appStore.requestTest(request.attributed(to: call), call)
  }

  /// Calls Apple by ``AppStoreServiceHandler/testNotificationStatus(_:_:)``.
  func getTestNotificationStatus(
    _ request: GetTestNotificationStatusRequest, _ call: CallContext
  ) async throws(Status) -> GetTestNotificationStatusResponse {
    try await appStore.testNotificationStatus(request, call)
  }

  /// Ingests a notification that a relay received, as the edge ingests Apple's. A rejected one is a response with its
  /// reason, not an error, and is stored as evidence. `received_at` is when the relay got it; without it, now.
  func ingestNotification(
    _ request: IngestNotificationRequest, _ call: CallContext
  ) async throws(Status) -> IngestNotificationResponse {
    let app = try context.catalog.value.app(request.app)
    guard !request.body.isEmpty else { throw .missingField("body", "body is empty") }
    let receivedAt = try request.receivedAt.map { time throws(Status) in try Instant(time, "received_at") }
    do throws(LedgerError) {
      let received = try await context.intake.notifications.ingest(
        IncomingNotification(
          appID: app.id, body: request.body, source: .relay, receivedAt: receivedAt))
      CallScope.show(received.customerID.map { [$0] } ?? [])
      return .with {
        $0.notification = Wire.Notification(
          received.record, customerID: received.customerID, problem: received.problem)
        $0.alreadyKnown = received.isDuplicate
      }
    } catch {
      throw Status(error)
    }
  }

  /// Lists notifications, newest first. The position of a page is the evidence id of the last notification of the
  /// previous page.
  func listNotifications(
    _ request: ListNotificationsRequest, _ call: CallContext
  ) async throws(Status) -> ListNotificationsResponse {
    let app = try context.catalog.value.app(request.app)
    let size = try RequestValidation.pageSize(request.pageSize)
    var query = NotificationFilter(appID: app.id, limit: size + 1)
    if request.environment != .unspecified { query.environment = try app.environment(request.environment) }
    query.customerID = request.customerId.given
    query.type = request.notificationType.given
    query.state = try NotificationState(request.state)
    query.from = try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
    query.to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") }
    let page = try context.pageTokens.page(request)
    query.before = try page.number.map(EvidenceID.init(rawValue:))
    let response = try await context.read { [query] reader throws(StoreError) in
      let found = try reader.notifications(query)
      let notifications = try found.prefix(size).map { record throws(StoreError) in
        Wire.Notification(record, customerID: try Self.owner(of: record, reader))
      }
      return ListNotificationsResponse.with {
        $0.notifications = notifications
        if found.count > size {
          $0.nextPageToken = page.token(after: found[size - 1].evidenceID.rawValue)
        }
      }
    }
    CallScope.show(response.notifications.map(\.customerId), of: "notifications")
    return response
  }

  /// The first owner of the purchase that a notification is about; `nil` without a purchase or an owner.
  private static func owner(
    of record: NotificationRecord, _ reader: any StoreSnapshot
  ) throws(StoreError) -> String? {
    guard let environment = record.environment, !record.originalTransactionID.isEmpty else { return nil }
    return try reader.owners(
      of: LineKey(
        appID: record.appID, environment: environment, lineID: record.originalTransactionID)
    ).first
  }
}

extension CallContext {
  /// The caller's timeout; `nil` if it has none. It limits calls to Apple on behalf of the caller.
  var remainingTime: Duration? { timeout.map { .nanoseconds($0.nanoseconds) } }
}
