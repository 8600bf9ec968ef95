internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Reports
internal import Store
internal import Wire

// `GetCustomerHistory`: a customer's lanes.
extension CustomerServiceHandler {
  /// The greatest number of notifications, and of operator commands, in a response.
  private static let maxMarks = 1_000

  /// Returns the lanes of the merge target. Without `start_time`, they begin 13 months before the end, so that a month
  /// can be compared with the same one of the year before.
  func getCustomerHistory(
    _ request: GetCustomerHistoryRequest, _ call: CallContext
  ) async throws(Status) -> GetCustomerHistoryResponse {
    let (app, environment) = try context.scope(of: request)
    try RequestValidation.customerID(request.customerId)
    let asOf = try request.asOf.map { time throws(Status) in try Instant(time, "as_of") }
    let range = try HistoryRange(request, until: asOf ?? context.now(in: environment))
    CallScope.ask(asOf: asOf, knownAt: range.knownAt)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let response = try await context.readExpensively(call) { reader throws(StoreError) in
      try Self.history(of: key, range, in: app, reader)
    }
    CallScope.show([response.customerId])
    return response
  }

  /// Evaluates the history from one snapshot. With `known_at`, facts recorded later do not count, and neither do
  /// notifications and commands.
  private static func history(
    of key: CustomerKey, _ range: HistoryRange, in app: AppDefinition, _ reader: any StoreSnapshot
  ) throws(StoreError) -> GetCustomerHistoryResponse {
    let customer = try reader.finalMergeTarget(of: key)
    let facts =
      if let knownAt = range.knownAt {
        try FactHistory(of: customer, in: reader).facts(knownAt: knownAt)
      } else {
        try reader.facts(of: customer) ?? CustomerFacts()
      }
    var response = GetCustomerHistoryResponse()
    response.customerId = customer.customerID
    response.environment = Wire.Environment(customer.environment)
    response.startTime = GoogleProtobuf.Timestamp(range.start)
    response.asOf = GoogleProtobuf.Timestamp(range.end)
    let history = CustomerHistory(facts, in: app, from: range.start, to: range.end)
    response.lanes = try history.lanes.map { lane throws(StoreError) in
      try HistoryLane(lane) { fact throws(StoreError) in try reader.evidence(of: fact, of: customer) }
    }
    let totals = PaidTotals(facts, in: app, at: range.end)
    response.paid = totals.sums.map(PaidTotal.init)
    response.purchasesWithoutPrice = totals.unpriced
    let known = min(range.end, range.knownAt ?? range.end)
    response.lanes += [
      try HistoryLane(notificationsAbout: customer, range.start, known, limit: maxMarks, reader),
      try HistoryLane(commandsAbout: customer, range.start, known, limit: maxMarks, reader),
    ].filter { !$0.marks.isEmpty }
    return response
  }
}

/// The times that a history is about.
private struct HistoryRange: Sendable {
  private static let months: Int64 = 13

  /// The requested start; 13 months before the end if the request has none.
  let start: Instant
  let end: Instant
  /// The instant whose knowledge counts; `nil`: all that is stored.
  let knownAt: Instant?

  /// - Throws: `INVALID_FIELD` for a time that is malformed, or a start after the end.
  init(_ request: GetCustomerHistoryRequest, until end: Instant) throws(Status) {
    start =
      try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
      ?? end.advanced(by: Period(months: -Self.months))
    guard start <= end else { throw .invalidField("start_time", "start_time is after as_of") }
    self.end = end
    knownAt = try request.knownAt.map { time throws(Status) in try Instant(time, "known_at") }
  }
}

extension HistoryLane {
  /// A lane of the evaluation; `evidence` returns the evidence of a fact that decides a segment.
  fileprivate init(
    _ lane: CustomerHistory.Lane, evidence: (DecidingFact) throws(StoreError) -> EvidenceID?
  ) throws(StoreError) {
    self.init()
    switch lane.kind {
    case .access(let entitlement): (kind, name) = (.access, entitlement)
    case .purchase(let id): (kind, name) = (.purchase, id)
    case .shared(let id): (kind, name) = (.shared, id)
    case .grant(let id): (kind, name) = (.grant, id)
    }
    productId = lane.productID
    segments = try lane.segments.map { segment throws(StoreError) in
      HistorySegment(segment, try segment.decidingFact.flatMap(evidence))
    }
    marks = lane.marks.map { mark in
      .with {
        $0.time = GoogleProtobuf.Timestamp(mark.at)
        $0.type = mark.kind.rawValue
        $0.transactionId = mark.transactionID
      }
    }
  }
}

extension HistorySegment {
  /// A segment with the transaction that decides it. Family members and seat holders get no price, because they do not
  /// pay.
  fileprivate init(_ segment: CustomerHistory.Segment, _ evidence: EvidenceID?) {
    self.init()
    since = GoogleProtobuf.Timestamp(segment.start)
    until = segment.end.map(GoogleProtobuf.Timestamp.init)
    reason = segment.reason.rawValue
    accessLevel = Wire.AccessLevel(segment.accessLevel)
    grantId = segment.grantID ?? ""
    evidenceId = evidence?.rawValue
    productId = segment.productID ?? ""
    guard let transaction = segment.transaction else { return }
    transactionId = transaction.transactionID
    offerType = transaction.offerType.map(Wire.OfferType.init) ?? .unspecified
    guard PurchaseRole(transaction.ownership).isPayer else { return }
    price = Wire.Money(milliunits: transaction.details.price, currency: transaction.details.currency)
  }
}
