internal import Curl
internal import Telemetry

/// Sends requests over the network.
package final class CurlExchange: HTTPExchange {
  /// The one exchange of the process, so that all callers of a host share connections. It is never released.
  package static let shared = CurlExchange()

  // The largest concurrency that a webhook can be configured with; Apple's hosts use one HTTP/2 connection.
  private let client = CurlClient(allowsHTTP2: true, connectionsPerHost: 64)

  private init() {}

  /// Sends the request, with the trace of the call for outgoing proxies. `limit` is the maximum size of the response
  /// body in bytes.
  /// `timeout` covers the whole exchange; redirects are not followed.
  package func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    var headers = request.headers
    // Outgoing proxies read it; Apple ignores it.
    if let trace = TraceContext.current { headers.append(("traceparent", trace.traceparent)) }
    do {
      let response = try await client.send(
        CurlRequest(
          method: request.method, url: request.url, headers: headers, body: request.body, timeout: timeout,
          responseLimit: limit))
      return IncomingResponse(status: response.status, headers: response.headers, body: response.body)
    } catch {
      throw HTTPExchangeError(error)
    }
  }
}

extension HTTPExchangeError {
  fileprivate init(_ error: CurlError) {
    switch error {
    case .timedOut: self = .timedOut
    case .cancelled: self = .cancelled
    case .tooLarge: self = .tooLarge
    case .unreachable(let problem), .tls(let problem), .closed(let problem), .failed(let problem):
      self = .unreachable(problem)
    }
  }
}
