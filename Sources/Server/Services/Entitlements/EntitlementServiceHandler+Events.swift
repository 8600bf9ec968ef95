internal import AppStore
internal import Callers
internal import Entitlements
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

// Events of a customer, as pages and as a stream, and unclaimed purchases.
extension EntitlementServiceHandler {
  private static let maxNotifications = 1_000

  func watch(
    _ request: WatchRequest, _ responses: ResponseWriter<WatchResponse>, _ call: CallContext
  ) async throws(Status) {
    try await eventStream.watch(request, responses, call, showsOtherCustomer: call.hasRole(.operate))
  }

  /// The position of a page is the sequence of the last event of the previous page.
  func listTimeline(
    _ request: ListTimelineRequest, _ call: CallContext
  ) async throws(Status) -> ListTimelineResponse {
    let app = try context.catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    let size = try RequestValidation.pageSize(request.pageSize)
    let page = try context.pageTokens.page(request)
    let last = try page.number ?? 0
    let customer = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let mayOperate = call.hasRole(.operate)
    return try await context.readExpensively(call) { reader throws(StoreError) in
      let events = try reader.events(of: customer, after: last, limit: size + 1)
      var response = ListTimelineResponse.with {
        $0.events = events.prefix(size).map {
          EntitlementEvent($0, in: app, showsOtherCustomer: mayOperate)
        }
        if events.count > size { $0.nextPageToken = page.token(after: events[size - 1].sequence) }
      }
      if request.includeNotifications {
        let end = events.count > size ? events[size - 1].event.recordedAt : nil
        response.notifications = try Self.notifications(about: customer, after: last, upTo: end, reader)
      }
      return response
    }
  }

  /// The notifications about the customer's purchases after this event, in order of arrival.
  private static func notifications(
    about customer: CustomerKey, after sequence: Int64, upTo end: Instant?, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [Wire.Notification] {
    var query = NotificationFilter(appID: customer.appID, limit: maxNotifications)
    query.environment = customer.environment
    query.customerID = customer.customerID
    let before = try reader.events(of: customer, after: sequence - 1, limit: 1).first
    if sequence > 0, let before { query.from = before.event.recordedAt.advanced(byMilliseconds: 1) }
    query.to = end?.advanced(byMilliseconds: 1)
    return try reader.notifications(query).reversed().map {
      Wire.Notification($0, customerID: customer.customerID)
    }
  }

  /// The position of a page is the id of the last line of the previous page.
  func listUnclaimedPurchases(
    _ request: ListUnclaimedPurchasesRequest, _ call: CallContext
  ) async throws(Status) -> ListUnclaimedPurchasesResponse {
    let app = try context.catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    let size = try RequestValidation.pageSize(request.pageSize)
    let page = try context.pageTokens.page(request)
    return try await context.read { reader throws(StoreError) in
      let lines = try reader.unclaimedLines(
        of: app.id, in: environment, after: page.position, limit: size + 1)
      var response = ListUnclaimedPurchasesResponse()
      for line in lines.prefix(size) {
        let evidence = try reader.evidence(line.latest)?.evidence
        if let fact = evidence?.transactionPayload.flatMap({ try? TransactionFact($0) }) {
          response.transactions.append(Wire.Transaction(fact, of: app, environment: environment))
        }
      }
      if lines.count > size { response.nextPageToken = page.token(after: lines[size - 1].line.lineID) }
      return response
    }
  }
}
