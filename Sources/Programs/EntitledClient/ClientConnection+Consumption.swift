package import Wire

// What Apple asks about customers who want their money back.
extension ClientConnection {
  /// Apple's questions, and what became of them.
  package func listConsumptionRequests(
    _ request: ListConsumptionRequestsRequest
  ) async throws(ClientError) -> ListConsumptionRequestsResponse {
    try await call("/entitled.v1.AppStoreService/ListConsumptionRequests", request)
  }

  /// Records whether a customer agrees that Apple is told.
  package func setConsumptionConsent(
    _ request: SetConsumptionConsentRequest
  ) async throws(ClientError) -> SetConsumptionConsentResponse {
    try await call("/entitled.v1.AppStoreService/SetConsumptionConsent", request)
  }
}
