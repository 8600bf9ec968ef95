package import Wire

// What goes out, and what did not arrive.
extension ClientConnection {
  /// The webhooks of an app, and how each is doing.
  package func listWebhooks(_ request: ListWebhooksRequest) async throws(ClientError) -> ListWebhooksResponse
  {
    try await call("/entitled.v1.WebhookService/ListWebhooks", request)
  }

  /// What did not arrive, page by page.
  package func listDeliveries(
    _ request: ListDeliveriesRequest
  ) async throws(ClientError) -> ListDeliveriesResponse {
    try await call("/entitled.v1.WebhookService/ListDeliveries", request)
  }

  /// Sends again what was given up, or sent before.
  package func replayDeliveries(
    _ request: ResendDeliveriesRequest
  ) async throws(ClientError) -> ResendDeliveriesResponse {
    try await call("/entitled.v1.WebhookService/ResendDeliveries", request)
  }

  /// Forgets what was given up.
  package func discardDeliveries(
    _ request: DiscardDeliveriesRequest
  ) async throws(ClientError) -> DiscardDeliveriesResponse {
    try await call("/entitled.v1.WebhookService/DiscardDeliveries", request)
  }

  /// Where versions 1 and 2 of Apple's notifications told different things, page by page.
  package func compareVersions(
    _ request: CompareNotificationVersionsRequest
  ) async throws(ClientError) -> CompareNotificationVersionsResponse {
    try await call("/entitled.v1.NotificationService/CompareNotificationVersions", request)
  }

  /// Begins again with a receiver that wanted no more.
  package func resumeWebhook(
    _ request: ResumeWebhookRequest
  ) async throws(ClientError) -> ResumeWebhookResponse {
    try await call("/entitled.v1.WebhookService/ResumeWebhook", request)
  }
}
