package import Wire

// What operators ask about Apple's notifications, and have done about them.
extension ClientConnection {
  /// Fills a gap from Apple's notification history.
  package func backfill(_ request: BackfillNotificationsRequest) async throws(ClientError)
    -> BackfillNotificationsResponse
  {
    try await call("/entitled.v1.NotificationService/BackfillNotifications", request)
  }

  /// The repairs that there were.
  package func listRepairs(_ request: ListRepairsRequest) async throws(ClientError) -> ListRepairsResponse {
    try await call("/entitled.v1.NotificationService/ListRepairs", request)
  }

  /// What a repair found.
  package func getDriftReport(
    _ request: GetDriftReportRequest
  ) async throws(ClientError) -> GetDriftReportResponse {
    try await call("/entitled.v1.NotificationService/GetDriftReport", request)
  }

  /// Interprets kept notifications again.
  package func replay(_ request: ReprocessNotificationsRequest) async throws(ClientError)
    -> ReprocessNotificationsResponse
  {
    try await call("/entitled.v1.NotificationService/ReprocessNotifications", request)
  }
}
