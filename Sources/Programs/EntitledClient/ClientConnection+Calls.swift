package import Wire

extension ClientConnection {
  /// Is this customer entitled?
  package func check(_ request: CheckRequest) async throws(ClientError) -> CheckResponse {
    try await call("/entitled.v1.EntitlementService/Check", request)
  }

  /// Hands in a signed transaction.
  package func submitTransaction(
    _ request: SubmitTransactionRequest
  ) async throws(ClientError) -> SubmitTransactionResponse {
    try await call("/entitled.v1.ReceiptService/SubmitTransaction", request)
  }

  /// What is this document, and is it genuine?
  package func inspect(_ request: InspectRequest) async throws(ClientError) -> InspectResponse {
    try await call("/entitled.v1.ReceiptService/Inspect", request)
  }

  /// Can this service be called? The empty name asks for the server as a whole.
  package func health(
    of service: String
  ) async throws(ClientError) -> GRPCHealth.HealthCheckResponse.ServingStatus {
    let response: GRPCHealth.HealthCheckResponse = try await call(
      "/grpc.health.v1.Health/Check", GRPCHealth.HealthCheckRequest.with { $0.service = service },
      timeoutSeconds: 5)
    return response.status
  }
}
