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
    try await withStream("/entitled.v1.EntitlementService/Watch") {
      (stream: ClientStream<WatchRequest, WatchResponse>) in
      try await stream.send(request)
      stream.finish()
      while let response = try await stream.next(), try await handle(response) {}
    }
  }

  /// Passes each event of a saved segment and each heartbeat to `handle`, until it returns false or the server ends the
  /// stream.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func watchSegment(
    _ request: WatchSegmentRequest, _ handle: (WatchSegmentResponse) async throws -> Bool
  ) async throws {
    try await withStream("/entitled.v1.SegmentService/WatchSegment") {
      (stream: ClientStream<WatchSegmentRequest, WatchSegmentResponse>) in
      try await stream.send(request)
      stream.finish()
      while let response = try await stream.next(), try await handle(response) {}
    }
  }

  /// Passes the chunks of a report's file to `handle`.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func exportReport(
    _ request: ExportReportRequest, _ handle: (ExportReportResponse) async throws -> Void
  ) async throws {
    try await withStream("/entitled.v1.ReportService/ExportReport") {
      (stream: ClientStream<ExportReportRequest, ExportReportResponse>) in
      try await stream.send(request)
      stream.finish()
      while let response = try await stream.next() { try await handle(response) }
    }
  }

  /// Passes the postings of reports to `handle`, page by page.
  ///
  /// - Throws: ``ClientError/failed(_:)`` if the status is not OK, and the errors of `handle`.
  package func listPostings(
    _ request: ListPostingsRequest, _ handle: ([ReportPosting]) async throws -> Void
  ) async throws {
    try await withStream("/entitled.v1.ReportService/ListPostings") {
      (stream: ClientStream<ListPostingsRequest, ListPostingsResponse>) in
      try await stream.send(request)
      stream.finish()
      while let response = try await stream.next() { try await handle(response.postings) }
    }
  }
}
