internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Telemetry

/// Sends requests with async-http-client: HTTP/2 where the host speaks it, connections kept and shared.
package final class AsyncHTTPExchange: HTTPExchange {
  /// One for the process, on its own event loops, so that all who call a host share its connections. It lives
  /// as long as the process.
  package static let shared = AsyncHTTPExchange()

  private let client: HTTPClient

  private init() {
    var configuration = HTTPClient.Configuration()
    // Neither a token nor a signed message may follow a redirect to anywhere.
    configuration.redirectConfiguration = .disallow
    configuration.timeout.connect = .seconds(10)
    // As many as a webhook may be told to use; Apple's hosts speak HTTP/2 and take one.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  package func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = HTTPMethod(rawValue: request.method)
    for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
    // Apple does not look at it; proxies on the way out do.
    if let trace = TraceContext.current {
      outgoing.headers.add(name: "traceparent", value: trace.traceparent)
    }
    if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
    do {
      let response = try await client.execute(outgoing, timeout: TimeAmount(timeout))
      let body = try await response.body.collect(upTo: limit)
      return IncomingResponse(
        status: Int(response.status.code),
        headers: response.headers.map { ($0.name.lowercased(), $0.value) },
        body: Array(body.readableBytesView))
    } catch is NIOTooManyBytesError {
      throw .tooLarge
    } catch is CancellationError {
      throw .cancelled
    } catch let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout {
      throw .timedOut
    } catch let error as HTTPClientError where error == .cancelled {
      throw .cancelled
    } catch {
      throw .unreachable("\(error)")
    }
  }
}
