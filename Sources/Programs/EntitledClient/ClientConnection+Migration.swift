package import Wire

// Legacy receipts, one or very many.
extension ClientConnection {
  /// Hands in an app receipt.
  package func submitReceipt(
    _ request: SubmitReceiptRequest
  ) async throws(ClientError) -> SubmitReceiptResponse {
    try await call("/entitled.v1.ReceiptService/SubmitReceipt", request)
  }

  /// Hands over a piece of a job's input.
  package func uploadMigrationInput(
    _ request: UploadMigrationInputRequest
  ) async throws(ClientError) -> UploadMigrationInputResponse {
    try await call("/entitled.v1.ReceiptService/UploadMigrationInput", request)
  }

  /// Starts a migration job.
  package func startMigration(
    _ request: StartMigrationRequest
  ) async throws(ClientError) -> StartMigrationResponse {
    try await call("/entitled.v1.ReceiptService/StartMigration", request)
  }

  /// How far is a job?
  package func getMigration(_ request: GetMigrationRequest) async throws(ClientError) -> GetMigrationResponse
  {
    try await call("/entitled.v1.ReceiptService/GetMigration", request)
  }

  /// What could a job not do?
  package func listMigrationFailures(
    _ request: ListMigrationFailuresRequest
  ) async throws(ClientError) -> ListMigrationFailuresResponse {
    try await call("/entitled.v1.ReceiptService/ListMigrationFailures", request)
  }

  /// Stops a job, or lets go of what one left.
  package func cancelMigration(
    _ request: CancelMigrationRequest
  ) async throws(ClientError) -> CancelMigrationResponse {
    try await call("/entitled.v1.ReceiptService/CancelMigration", request)
  }

  /// Is what the server knows what Apple says?
  package func compareWithApple(
    _ request: CompareWithAppleRequest
  ) async throws(ClientError) -> CompareWithAppleResponse {
    try await call("/entitled.v1.ReceiptService/CompareWithApple", request, timeoutSeconds: 600)
  }
}
