package import Wire

// The methods that the generator does not write: the health of the server, and streams.

extension ClientConnection {
  /// Returns the health of a service; the empty name stands for the whole server.
  ///
  /// - Throws: ``ClientError/failed(_:)`` with the server's status, or another ``ClientError`` without one.
  package func health(
    of service: String
  ) async throws(ClientError) -> GRPCHealth.HealthCheckResponse.ServingStatus {
    let response: GRPCHealth.HealthCheckResponse = try await call(
      "/grpc.health.v1.Health/Check", GRPCHealth.HealthCheckRequest.with { $0.service = service },
      timeoutSeconds: 5)
    return response.status
  }

  /// Passes each event and each heartbeat to `handle`, until it returns false or the server ends the stream.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func watch(
    _ request: WatchRequest, _ handle: (WatchResponse) async throws -> Bool
  ) async throws {
    try await receive("/entitled.v1.EntitlementService/Watch", request, handle)
  }

  /// Passes each event of a saved segment and each heartbeat to `handle`, until it returns false or the server ends the
  /// stream.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func watchSegment(
    _ request: WatchSegmentRequest, _ handle: (WatchSegmentResponse) async throws -> Bool
  ) async throws {
    try await receive("/entitled.v1.SegmentService/WatchSegment", request, handle)
  }

  /// Passes the chunks of a report's file to `handle`.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func exportReport(
    _ request: ExportReportRequest, _ handle: (ExportReportResponse) async throws -> Void
  ) async throws {
    try await receive("/entitled.v1.ReportService/ExportReport", request) {
      (response: ExportReportResponse) in
      try await handle(response)
      return true
    }
  }

  /// Passes the postings of reports to `handle`, page by page.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func listPostings(
    _ request: ListPostingsRequest, _ handle: ([ReportPosting]) async throws -> Void
  ) async throws {
    try await receive("/entitled.v1.ReportService/ListPostings", request) {
      (response: ListPostingsResponse) in
      try await handle(response.postings)
      return true
    }
  }

  /// Sends the only request of a stream, and passes each response to `handle`, until it returns false or the server ends
  /// the stream.
  private func receive<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, _ handle: (Response) async throws -> Bool
  ) async throws {
    try await withStream(path) { (stream: ClientStream<Request, Response>) in
      try await stream.send(request)
      stream.finish()
      while let response = try await stream.next(), try await handle(response) {}
    }
  }
}
