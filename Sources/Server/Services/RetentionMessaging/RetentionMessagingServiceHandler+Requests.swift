internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

// Apple's requests for a message, with their answers and outcomes.
extension RetentionMessagingServiceHandler {
  /// The position of a page is the arrival and the id of the last request of the previous page.
  func listRetentionRequests(
    _ request: ListRetentionRequestsRequest, _ call: CallContext
  ) async throws(Status) -> ListRetentionRequestsResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    var query = RetentionRequestFilter(appID: app.id, limit: size + 1)
    if request.environment != .unspecified { query.environment = try app.environment(request.environment) }
    query.outcome = try Entitlements.RetentionOutcome(request.outcome)
    query.lineID = request.originalTransactionId.given
    query.from = try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
    query.to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") }
    query.after = page.position.flatMap(TimedPosition.init)
    try await flush()
    let found = try await context.read { [query] reader throws(StoreError) in
      try reader.retentionRequests(query)
    }
    return .with {
      $0.requests = found.prefix(size).map(Wire.RetentionRequest.init)
      if found.count > size {
        let last = found[size - 1]
        $0.nextPageToken = page.token(after: TimedPosition(last.receivedAt, last.requestID))
      }
    }
  }

  /// Counts requests by answer and outcome, from one snapshot.
  ///
  /// - Throws: `INVALID_RANGE` for an end that is not after the start.
  func getRetentionReport(
    _ request: GetRetentionReportRequest, _ call: CallContext
  ) async throws(Status) -> GetRetentionReportResponse {
    let (app, environment) = try context.scope(of: request)
    let from = try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
    let to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") }
    if let from, let to, to <= from {
      throw Status(
        .invalidArgument, reason: "INVALID_RANGE", "end_time is not after start_time", field: "end_time")
    }
    try await flush()
    let counts = try await context.readExpensively(call) { reader throws(StoreError) in
      try reader.retentionRequestCounts(of: app.id, in: environment, from: from, to: to)
    }
    return GetRetentionReportResponse(counts)
  }

  /// Writes the requests that wait, so that a read has those that were answered before it.
  ///
  /// - Throws: `STORE_UNAVAILABLE`.
  private func flush() async throws(Status) {
    do throws(LedgerError) { try await context.records.retentionRequests.flush() } catch {
      throw Status(.unavailable, reason: "STORE_UNAVAILABLE", "the last requests cannot be written; retry")
    }
  }
}
