internal import AppStore
internal import RPC
internal import Wire

/// Everything that a customer's page shows, from the methods of the contract. A part that failed does not fail the
/// others.
struct CustomerData: Sendable {
  /// The merge target, if the requested customer was merged. All parts are about it.
  let id: String
  let scope: Scope
  /// The instant that the page is about.
  let pointInTime: PointInTime
  let description: DescribeCustomerResponse
  /// The reason for which the description has no sentences and no advice; `nil`: it has.
  let descriptionProblem: Status?
  let customer: GetCustomerResponse
  /// The history until now, for the axis of the picture.
  let axis: Result<GetCustomerHistoryResponse, Status>
  /// The history up to the page's point in time.
  let history: Result<GetCustomerHistoryResponse, Status>
  let timeline: Result<ListTimelineResponse, Status>
  let notes: Result<ListNotesResponse, Status>
  let attributes: Result<GetCustomerAttributesResponse, Status>
  let family: Result<GetProbableFamilyResponse, Status>
  let fulfillments: Result<ListUnfulfilledPurchasesResponse, Status>
  let refunds: Result<ListConsumptionRequestsResponse, Status>
  let consents: Result<ListConsentWithdrawalsResponse, Status>
  let contradictions: Result<ListContradictionsResponse, Status>
  /// Whether the picture begins with the first purchase, however long ago it was.
  let isWholeRange: Bool

  /// The time of the answers, by the clock of the environment.
  var now: Instant { description.evaluatedAt?.instant ?? Instant(millisecondsSince1970: 0) }

  /// Makes all calls of the page, the independent ones at the same time.
  ///
  /// - Throws: the status of `GetCustomer`, without which there is no page. Other failures are in the parts.
  init(_ requested: String, in scope: Scope, _ visit: Visit) async throws(Status) {
    let described = await visit.attempt(Calls.describeCustomer, .about(requested, in: scope))
    // Not every method finds a merged customer under the requested id.
    id = (try? described.get())?.customerId ?? requested
    customer = try await visit.call(Calls.getCustomer, .about(id, in: scope))
    (description, descriptionProblem) = described.description(or: customer)
    pointInTime = PointInTime(visit).orNow(description.evaluatedAt?.instant)
    isWholeRange = visit.value("range") != nil
    let loader = CustomerLoader(id: id, scope: scope, pointInTime: pointInTime, visit: visit)
    async let timeline = loader.timeline()
    async let notes = loader.attempt(Calls.listNotes)
    async let attributes = loader.attempt(Calls.getCustomerAttributes)
    async let family = loader.attempt(Calls.getProbableFamily)
    async let fulfillments = loader.attempt(Calls.listUnfulfilledPurchases)
    async let refunds = loader.attempt(Calls.listConsumptionRequests)
    async let consents = loader.attempt(Calls.listConsentWithdrawals) { $0.includeSettled = true }
    async let contradictions = loader.contradictions()
    let axis = await loader.history(isWhole: isWholeRange, PointInTime(asOf: nil, isKnownThen: false))
    self.scope = scope
    self.axis = axis
    history =
      pointInTime.asOf == nil ? axis : await loader.history(from: (try? axis.get())?.startTime, pointInTime)
    self.timeline = await timeline
    self.notes = await notes
    self.attributes = await attributes
    self.family = await family
    self.fulfillments = await fulfillments
    self.refunds = await refunds
    self.consents = await consents
    self.contradictions = await contradictions
  }

  /// The App Store opened in July 2008.
  static let firstSales = Instant(millisecondsSince1970: 1_214_870_400_000)

  /// Whether the customer bought something before the beginning of the picture.
  var hasEarlierHistory: Bool {
    guard !isWholeRange, let start = (try? axis.get())?.startTime?.instant else { return false }
    return transactions.contains { ($0.originalPurchaseDate?.instant).map { $0 < start } ?? false }
  }
}

extension Result<DescribeCustomerResponse, Status> {
  /// The sentences and the advice about a customer; if these are not available, the answers in `customer` alone, with
  /// the problem.
  fileprivate func description(
    or customer: GetCustomerResponse
  ) -> (DescribeCustomerResponse, problem: Status?) {
    switch self {
    case .success(let response): return (response, nil)
    case .failure(let status):
      // An unknown customer can get a grant or a note anyway.
      let isExpected = status.code == .notFound && !customer.known
      return (DescribeCustomerResponse(answersOf: customer), isExpected ? nil : status)
    }
  }
}

extension DescribeCustomerResponse {
  /// The description of a customer without stored data, or one that cannot be described now: the answers alone.
  fileprivate init(answersOf customer: GetCustomerResponse) {
    self.init()
    customerId = customer.customerId
    environment = customer.environment
    evaluatedAt = customer.evaluatedAt
    activeInEnvironments = customer.activeInEnvironments
    entitlements = customer.entitlements.map { entitlement in
      .with {
        $0.entitlement = entitlement.name
        $0.reason = entitlement.reason
        $0.supportSentence = entitlement.explanation
      }
    }
  }
}
