package import Wire

// What people ask about one customer, and do for one.
extension ClientConnection {
  /// Everything about one customer.
  package func getCustomer(
    _ request: GetCustomerRequest
  ) async throws(ClientError) -> GetCustomerResponse {
    try await call("/entitled.v1.EntitlementService/GetCustomer", request)
  }

  /// What happened to this customer, page by page?
  package func listTimeline(_ request: ListTimelineRequest) async throws(ClientError) -> ListTimelineResponse
  {
    try await call("/entitled.v1.EntitlementService/ListTimeline", request)
  }

  /// Why is the answer what it is?
  package func explain(_ request: ExplainRequest) async throws(ClientError) -> ExplainResponse {
    try await call("/entitled.v1.EntitlementService/Explain", request)
  }

  /// Gives an entitlement without a purchase.
  package func grant(_ request: GrantRequest) async throws(ClientError) -> GrantResponse {
    try await call("/entitled.v1.EntitlementService/Grant", request)
  }

  /// Takes a grant back.
  package func revokeGrant(_ request: RevokeGrantRequest) async throws(ClientError) -> RevokeGrantResponse {
    try await call("/entitled.v1.EntitlementService/RevokeGrant", request)
  }

  /// Moves a purchase from one customer to another.
  package func transferPurchase(
    _ request: TransferPurchaseRequest
  ) async throws(ClientError) -> TransferPurchaseResponse {
    try await call("/entitled.v1.EntitlementService/TransferPurchase", request)
  }

  /// Hands each event and each heartbeat to `take`, until it answers false or the server ends the stream.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if it ends otherwise than with OK, and what `take` throws.
  package func watch(
    _ request: WatchRequest, _ take: (WatchResponse) async throws -> Bool
  ) async throws {
    try await withStream("/entitled.v1.EntitlementService/Watch") {
      (stream: ClientStream<WatchRequest, WatchResponse>) in
      try await stream.send(request)
      stream.finish()
      while let response = try await stream.next(), try await take(response) {}
    }
  }
}
