package import Wire

// The methods of the API that the commands call, one function each. All throw ``ClientError/failed(_:)`` with the
// server's status, or another ``ClientError`` if there is no status.

extension ClientConnection {
  /// Returns the health of a service; the empty name stands for the whole server.
  package func health(
    of service: String
  ) async throws(ClientError) -> GRPCHealth.HealthCheckResponse.ServingStatus {
    let response: GRPCHealth.HealthCheckResponse = try await call(
      "/grpc.health.v1.Health/Check", GRPCHealth.HealthCheckRequest.with { $0.service = service },
      timeoutSeconds: 5)
    return response.status
  }
}

// MARK: EntitlementService

extension ClientConnection {
  package func check(_ request: CheckRequest) async throws(ClientError) -> CheckResponse {
    try await call("/entitled.v1.EntitlementService/Check", request)
  }

  package func getCustomer(_ request: GetCustomerRequest) async throws(ClientError) -> GetCustomerResponse {
    try await call("/entitled.v1.EntitlementService/GetCustomer", request)
  }

  package func listTimeline(_ request: ListTimelineRequest) async throws(ClientError) -> ListTimelineResponse
  {
    try await call("/entitled.v1.EntitlementService/ListTimeline", request)
  }

  package func explain(_ request: ExplainRequest) async throws(ClientError) -> ExplainResponse {
    try await call("/entitled.v1.EntitlementService/Explain", request)
  }

  package func grant(_ request: GrantRequest) async throws(ClientError) -> GrantResponse {
    try await call("/entitled.v1.EntitlementService/Grant", request)
  }

  package func revokeGrant(_ request: RevokeGrantRequest) async throws(ClientError) -> RevokeGrantResponse {
    try await call("/entitled.v1.EntitlementService/RevokeGrant", request)
  }

  package func listGrants(_ request: ListGrantsRequest) async throws(ClientError) -> ListGrantsResponse {
    try await call("/entitled.v1.EntitlementService/ListGrants", request)
  }

  package func listUnclaimedPurchases(
    _ request: ListUnclaimedPurchasesRequest
  ) async throws(ClientError) -> ListUnclaimedPurchasesResponse {
    try await call("/entitled.v1.EntitlementService/ListUnclaimedPurchases", request)
  }

  package func listUnfulfilledPurchases(
    _ request: ListUnfulfilledPurchasesRequest
  ) async throws(ClientError) -> ListUnfulfilledPurchasesResponse {
    try await call("/entitled.v1.EntitlementService/ListUnfulfilledPurchases", request)
  }

  package func acknowledgeFulfillment(
    _ request: AcknowledgeFulfillmentRequest
  ) async throws(ClientError) -> AcknowledgeFulfillmentResponse {
    try await call("/entitled.v1.EntitlementService/AcknowledgeFulfillment", request)
  }

  package func registerAppAccountToken(
    _ request: RegisterAppAccountTokenRequest
  ) async throws(ClientError) -> RegisterAppAccountTokenResponse {
    try await call("/entitled.v1.EntitlementService/RegisterAppAccountToken", request)
  }

  /// Passes each event and each heartbeat to `handle`, until it returns false or the server ends the stream.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func watch(
    _ request: WatchRequest, _ handle: (WatchResponse) async throws -> Bool
  ) async throws {
    try await withStream("/entitled.v1.EntitlementService/Watch") {
      (stream: ClientStream<WatchRequest, WatchResponse>) in
      try await stream.send(request)
      stream.finish()
      while let response = try await stream.next(), try await handle(response) {}
    }
  }
}

// MARK: ReceiptService

extension ClientConnection {
  package func submitTransaction(
    _ request: SubmitTransactionRequest
  ) async throws(ClientError) -> SubmitTransactionResponse {
    try await call("/entitled.v1.ReceiptService/SubmitTransaction", request)
  }

  package func inspect(_ request: InspectRequest) async throws(ClientError) -> InspectResponse {
    try await call("/entitled.v1.ReceiptService/Inspect", request)
  }

  package func uploadMigrationInput(
    _ request: UploadMigrationInputRequest
  ) async throws(ClientError) -> UploadMigrationInputResponse {
    try await call("/entitled.v1.ReceiptService/UploadMigrationInput", request)
  }

  package func startMigration(
    _ request: StartMigrationRequest
  ) async throws(ClientError) -> StartMigrationResponse {
    try await call("/entitled.v1.ReceiptService/StartMigration", request)
  }

  package func listMigrations(
    _ request: ListMigrationsRequest
  ) async throws(ClientError) -> ListMigrationsResponse {
    try await call("/entitled.v1.ReceiptService/ListMigrations", request)
  }

  package func getMigration(_ request: GetMigrationRequest) async throws(ClientError) -> GetMigrationResponse
  {
    try await call("/entitled.v1.ReceiptService/GetMigration", request)
  }

  package func listMigrationFailures(
    _ request: ListMigrationFailuresRequest
  ) async throws(ClientError) -> ListMigrationFailuresResponse {
    try await call("/entitled.v1.ReceiptService/ListMigrationFailures", request)
  }

  /// Cancels a running job, or deletes the failed lines of one that has ended.
  package func cancelMigration(
    _ request: CancelMigrationRequest
  ) async throws(ClientError) -> CancelMigrationResponse {
    try await call("/entitled.v1.ReceiptService/CancelMigration", request)
  }

  /// Compares one page of customers; each costs calls to Apple, so the timeout is ten minutes.
  package func compareWithApple(
    _ request: CompareWithAppleRequest
  ) async throws(ClientError) -> CompareWithAppleResponse {
    try await call("/entitled.v1.ReceiptService/CompareWithApple", request, timeoutSeconds: 600)
  }
}

// MARK: NotificationService and AppStoreService

extension ClientConnection {
  package func backfillNotifications(
    _ request: BackfillNotificationsRequest
  ) async throws(ClientError) -> BackfillNotificationsResponse {
    try await call("/entitled.v1.NotificationService/BackfillNotifications", request)
  }

  package func listRepairs(_ request: ListRepairsRequest) async throws(ClientError) -> ListRepairsResponse {
    try await call("/entitled.v1.NotificationService/ListRepairs", request)
  }

  package func getDriftReport(
    _ request: GetDriftReportRequest
  ) async throws(ClientError) -> GetDriftReportResponse {
    try await call("/entitled.v1.NotificationService/GetDriftReport", request)
  }

  package func reprocessNotifications(
    _ request: ReprocessNotificationsRequest
  ) async throws(ClientError) -> ReprocessNotificationsResponse {
    try await call("/entitled.v1.NotificationService/ReprocessNotifications", request)
  }

  package func compareNotificationVersions(
    _ request: CompareNotificationVersionsRequest
  ) async throws(ClientError) -> CompareNotificationVersionsResponse {
    try await call("/entitled.v1.NotificationService/CompareNotificationVersions", request)
  }

  package func listConsumptionRequests(
    _ request: ListConsumptionRequestsRequest
  ) async throws(ClientError) -> ListConsumptionRequestsResponse {
    try await call("/entitled.v1.AppStoreService/ListConsumptionRequests", request)
  }

  package func setConsumptionConsent(
    _ request: SetConsumptionConsentRequest
  ) async throws(ClientError) -> SetConsumptionConsentResponse {
    try await call("/entitled.v1.AppStoreService/SetConsumptionConsent", request)
  }
}

// MARK: WebhookService

extension ClientConnection {
  package func listWebhooks(_ request: ListWebhooksRequest) async throws(ClientError) -> ListWebhooksResponse
  {
    try await call("/entitled.v1.WebhookService/ListWebhooks", request)
  }

  package func getDelivery(_ request: GetDeliveryRequest) async throws(ClientError) -> GetDeliveryResponse {
    try await call("/entitled.v1.WebhookService/GetDelivery", request)
  }

  package func listDeliveries(
    _ request: ListDeliveriesRequest
  ) async throws(ClientError) -> ListDeliveriesResponse {
    try await call("/entitled.v1.WebhookService/ListDeliveries", request)
  }

  package func resendDeliveries(
    _ request: ResendDeliveriesRequest
  ) async throws(ClientError) -> ResendDeliveriesResponse {
    try await call("/entitled.v1.WebhookService/ResendDeliveries", request)
  }

  package func discardDeliveries(
    _ request: DiscardDeliveriesRequest
  ) async throws(ClientError) -> DiscardDeliveriesResponse {
    try await call("/entitled.v1.WebhookService/DiscardDeliveries", request)
  }

  package func resumeWebhook(
    _ request: ResumeWebhookRequest
  ) async throws(ClientError) -> ResumeWebhookResponse {
    try await call("/entitled.v1.WebhookService/ResumeWebhook", request)
  }
}

// MARK: AuditService, CustomerService, StatusService

extension ClientConnection {
  package func listAuditEntries(
    _ request: ListAuditEntriesRequest
  ) async throws(ClientError) -> ListAuditEntriesResponse {
    try await call("/entitled.v1.AuditService/ListAuditEntries", request)
  }

  package func findCustomers(
    _ request: FindCustomersRequest
  ) async throws(ClientError) -> FindCustomersResponse {
    try await call("/entitled.v1.CustomerService/FindCustomers", request)
  }

  package func getPurchase(
    _ request: GetPurchaseRequest
  ) async throws(ClientError) -> GetPurchaseResponse {
    try await call("/entitled.v1.CustomerService/GetPurchase", request)
  }

  package func getCustomerHistory(
    _ request: GetCustomerHistoryRequest
  ) async throws(ClientError) -> GetCustomerHistoryResponse {
    try await call("/entitled.v1.CustomerService/GetCustomerHistory", request)
  }

  package func getEvidence(
    _ request: GetEvidenceRequest
  ) async throws(ClientError) -> GetEvidenceResponse {
    try await call("/entitled.v1.CustomerService/GetEvidence", request)
  }

  package func getEvent(
    _ request: GetEventRequest
  ) async throws(ClientError) -> GetEventResponse {
    try await call("/entitled.v1.CustomerService/GetEvent", request)
  }

  package func describeCustomer(
    _ request: DescribeCustomerRequest
  ) async throws(ClientError) -> DescribeCustomerResponse {
    try await call("/entitled.v1.CustomerService/DescribeCustomer", request)
  }

  package func addNote(
    _ request: AddNoteRequest
  ) async throws(ClientError) -> AddNoteResponse {
    try await call("/entitled.v1.CustomerService/AddNote", request)
  }

  package func listNotes(
    _ request: ListNotesRequest
  ) async throws(ClientError) -> ListNotesResponse {
    try await call("/entitled.v1.CustomerService/ListNotes", request)
  }

  package func deleteNote(
    _ request: DeleteNoteRequest
  ) async throws(ClientError) -> DeleteNoteResponse {
    try await call("/entitled.v1.CustomerService/DeleteNote", request)
  }

  package func setCustomerAttributes(
    _ request: SetCustomerAttributesRequest
  ) async throws(ClientError) -> SetCustomerAttributesResponse {
    try await call("/entitled.v1.CustomerService/SetCustomerAttributes", request)
  }

  package func getCustomerAttributes(
    _ request: GetCustomerAttributesRequest
  ) async throws(ClientError) -> GetCustomerAttributesResponse {
    try await call("/entitled.v1.CustomerService/GetCustomerAttributes", request)
  }

  package func getStatus(_ request: GetStatusRequest) async throws(ClientError) -> GetStatusResponse {
    try await call("/entitled.v1.StatusService/GetStatus", request)
  }

  package func whoAmI(_ request: WhoAmIRequest) async throws(ClientError) -> WhoAmIResponse {
    try await call("/entitled.v1.StatusService/WhoAmI", request)
  }

  package func getConfiguration(_ request: GetConfigurationRequest) async throws(ClientError)
    -> GetConfigurationResponse
  {
    try await call("/entitled.v1.StatusService/GetConfiguration", request)
  }
}
