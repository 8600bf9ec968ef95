internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

/// The methods of `entitled.v1.EntitlementService` that page through what happened and what waits. One
/// instance for each event loop, since its reader belongs to one.
struct TimelineService {
  private static let mostNotifications = 1_000

  private let reader: any StoreReader
  private let catalog: CurrentCatalog

  init(reader: any StoreReader, catalog: CurrentCatalog) {
    self.reader = reader
    self.catalog = catalog
  }

  var methods: [Method] {
    [
      .unary("/\(EntitlementService.name)/ListTimeline") {
        (request: ListTimelineRequest, _) throws(Status) in try timeline(request)
      },
      .unary("/\(EntitlementService.name)/ListUnclaimedPurchases") {
        (request: ListUnclaimedPurchasesRequest, _) throws(Status) in try unclaimed(request)
      },
    ]
  }

  /// The token is the number of the last event of the page before.
  private func timeline(_ request: ListTimelineRequest) throws(Status) -> ListTimelineResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.customerID(request.customerId)
    let size = try RequestValidation.pageSize(request.pageSize)
    guard let last = request.pageToken.isEmpty ? 0 : Int64(request.pageToken), last >= 0 else {
      throw .invalidPageToken
    }
    let customer = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let events = try reading { () throws(StoreError) in
      try reader.events(of: customer, after: last, limit: size + 1)
    }
    var response = ListTimelineResponse.with {
      $0.events = events.prefix(size).map { EntitlementEvent($0, in: app) }
      if events.count > size { $0.nextPageToken = String(events[size - 1].sequence) }
    }
    if request.includeNotifications {
      let end = events.count > size ? events[size - 1].event.recordedAt : nil
      response.notifications = try notifications(about: customer, after: last, upTo: end)
    }
    return response
  }

  /// What Apple told of the customer's purchases behind the event of that number, in the order of its arrival.
  private func notifications(
    about customer: CustomerKey, after sequence: Int64, upTo end: Instant?
  ) throws(Status) -> [Wire.Notification] {
    let found = try reading { () throws(StoreError) in
      var query = NotificationFilter(appID: customer.appID, limit: Self.mostNotifications)
      query.environment = customer.environment
      query.customerID = customer.customerID
      let before = try reader.events(of: customer, after: sequence - 1, limit: 1).first
      if sequence > 0, let before { query.from = before.event.recordedAt.advanced(byMilliseconds: 1) }
      query.to = end?.advanced(byMilliseconds: 1)
      return try reader.notifications(query)
    }
    return found.reversed().map { Wire.Notification($0, customerID: customer.customerID) }
  }

  /// The token is the number of the last line of the page before.
  private func unclaimed(
    _ request: ListUnclaimedPurchasesRequest
  ) throws(Status) -> ListUnclaimedPurchasesResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    let size = try RequestValidation.pageSize(request.pageSize)
    let lines = try reading { () throws(StoreError) in
      try reader.unclaimedLines(
        of: app.id, in: environment, after: request.pageToken.given, limit: size + 1)
    }
    let transactions = try reading { () throws(StoreError) in
      var transactions: [Wire.Transaction] = []
      for line in lines.prefix(size) {
        if let transaction = try transaction(in: line.latest) { transactions.append(transaction) }
      }
      return transactions
    }
    return .with {
      $0.transactions = transactions
      if lines.count > size { $0.nextPageToken = lines[size - 1].line.originalTransactionID }
    }
  }

  /// What a signed transaction says that was believed when it came.
  private func transaction(in evidence: EvidenceID) throws(StoreError) -> Wire.Transaction? {
    try reader.evidence(evidence)?.evidence.transactionPayload.map(Wire.Transaction.init)
  }

  private func reading<Value>(_ body: () throws(StoreError) -> Value) throws(Status) -> Value {
    do { return try body() } catch { throw Status(error) }
  }
}

extension Status {
  static var invalidPageToken: Status {
    Status(
      .invalidArgument, reason: "INVALID_PAGE_TOKEN", "page_token is not one that a response gave",
      field: "page_token")
  }
}
