internal import Callers
internal import RPC
internal import Wire

/// The calls of a customer's page.
struct CustomerLoader: Sendable {
  let id: String
  let scope: Scope
  let moment: Moment
  let visit: Visit

  /// The history until a moment: of 13 months, or the whole one.
  func history(isWhole: Bool, _ moment: Moment) async -> Result<GetCustomerHistoryResponse, Status> {
    await history(from: isWhole ? GoogleProtobuf.Timestamp(CustomerData.firstSales) : nil, moment)
  }

  func history(
    from: GoogleProtobuf.Timestamp?, _ moment: Moment
  ) async -> Result<GetCustomerHistoryResponse, Status> {
    await visit.attempt(
      Calls.getCustomerHistory,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
        $0.asOf = moment.timestamp
        $0.knownAt = moment.knownAt
        guard let from, let first = from.instant else { return }
        $0.startTime = moment.asOf.map { $0 < first } == true ? moment.timestamp : from
      })
  }

  /// The newest page of the timeline with something of the moment and the source, after a bounded number of later pages.
  func timeline() async -> Result<ListTimelineResponse, Status> {
    var token = visit.value("page") ?? ""
    let source = TimelineSource(visit)
    for _ in 1..<20 {
      let answer = await timeline(page: token)
      guard case .success(let timeline) = answer, !timeline.nextPageToken.isEmpty,
        !timeline.events.contains(where: { moment.includes($0) && source?.includes($0) ?? true }),
        !timeline.notifications.contains(where: { moment.includes($0.receivedAt) })
      else { return answer }
      token = timeline.nextPageToken
    }
    return await timeline(page: token)
  }

  private func timeline(page: String) async -> Result<ListTimelineResponse, Status> {
    await visit.attempt(
      Calls.listTimeline,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
        $0.newestFirst = true
        $0.pageSize = 100
        $0.pageToken = page
        $0.includeNotifications = visit.value("apple") != nil
        $0.includeWebhooks = visit.value("webhooks") != nil && visit.has(.operate)
        $0.types = visit.value("type").map { [$0] } ?? []
        $0.entitlements = visit.value("entitlement").map { [$0] } ?? []
      })
  }

  func notes() async -> Result<ListNotesResponse, Status> {
    await visit.attempt(
      Calls.listNotes,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
      })
  }

  func attributes() async -> Result<GetCustomerAttributesResponse, Status> {
    await visit.attempt(
      Calls.getCustomerAttributes,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
      })
  }

  func family() async -> Result<GetProbableFamilyResponse, Status> {
    await visit.attempt(
      Calls.getProbableFamily,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
      })
  }

  func fulfillments() async -> Result<ListUnfulfilledPurchasesResponse, Status> {
    await visit.attempt(
      Calls.listUnfulfilledPurchases,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
      })
  }

  func contradictions() async -> Result<ListContradictionsResponse, Status> {
    guard moment.asOf == nil else { return .success(ListContradictionsResponse()) }
    return await visit.attempt(
      Calls.listContradictions,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
      })
  }

  func consents() async -> Result<ListConsentWithdrawalsResponse, Status> {
    await visit.attempt(
      Calls.listConsentWithdrawals,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
        $0.includeSettled = true
      })
  }

  func refunds() async -> Result<ListConsumptionRequestsResponse, Status> {
    await visit.attempt(
      Calls.listConsumptionRequests,
      .with {
        $0.app = scope.app
        $0.customerId = id
        $0.environment = scope.environment
      })
  }
}
