internal import Callers
internal import RPC
internal import Wire

/// The calls of a customer's page.
struct CustomerLoader: Sendable {
  let id: String
  let scope: Scope
  let pointInTime: PointInTime
  let visit: Visit

  /// The history up to a point in time: the last 13 months of it, or all of it.
  func history(isWhole: Bool, _ pointInTime: PointInTime) async -> Result<GetCustomerHistoryResponse, Status>
  {
    await history(from: isWhole ? GoogleProtobuf.Timestamp(CustomerData.firstSales) : nil, pointInTime)
  }

  /// The history from an instant up to the page's point in time.
  func history(
    from: GoogleProtobuf.Timestamp?, _ pointInTime: PointInTime
  ) async -> Result<GetCustomerHistoryResponse, Status> {
    await attempt(Calls.getCustomerHistory) {
      $0.asOf = pointInTime.timestamp
      $0.knownAt = pointInTime.knownAt
      guard let from, let first = from.instant else { return }
      $0.startTime = pointInTime.asOf.map { $0 < first } == true ? pointInTime.timestamp : from
    }
  }

  /// The newest page of the timeline with something up to the point in time and from the source; skips only a limited
  /// number of later pages.
  func timeline() async -> Result<ListTimelineResponse, Status> {
    var token = visit.value("page") ?? ""
    let source = TimelineSource(visit)
    for _ in 1..<20 {
      let answer = await timeline(page: token)
      guard case .success(let timeline) = answer, !timeline.nextPageToken.isEmpty,
        !timeline.events.contains(where: { pointInTime.includes($0) && source?.includes($0) ?? true }),
        !timeline.notifications.contains(where: { pointInTime.includes($0.receivedAt) })
      else { return answer }
      token = timeline.nextPageToken
    }
    return await timeline(page: token)
  }

  private func timeline(page: String) async -> Result<ListTimelineResponse, Status> {
    await attempt(Calls.listTimeline) {
      $0.newestFirst = true
      $0.pageSize = 100
      $0.pageToken = page
      $0.includeNotifications = visit.value("apple") != nil
      $0.includeWebhooks = visit.value("webhooks") != nil && visit.has(.operate)
      $0.types = visit.value("type").map { [$0] } ?? []
      $0.entitlements = visit.value("entitlement").map { [$0] } ?? []
    }
  }

  /// The contradictions now; a page about the past has none, because the service has no past ones.
  func contradictions() async -> Result<ListContradictionsResponse, Status> {
    guard pointInTime.asOf == nil else { return .success(ListContradictionsResponse()) }
    return await attempt(Calls.listContradictions)
  }

  /// Makes a call about the customer for a part of the page; `build` sets the further fields of the request.
  func attempt<Request: CustomerRequest, Response>(
    _ method: ContractCall<Request, Response>, _ build: (inout Request) -> Void = { _ in }
  ) async -> Result<Response, Status> {
    await visit.attempt(method, .about(id, in: scope, build))
  }
}
