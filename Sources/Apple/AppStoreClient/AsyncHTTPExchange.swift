internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Telemetry

/// Sends requests with async-http-client, which keeps and shares connections and uses HTTP/2 where the host offers it.
package final class AsyncHTTPExchange: HTTPExchange {
  /// The one exchange of the process, on its own event loops, so that all callers of a host share connections. It is
  /// never shut down.
  package static let shared = AsyncHTTPExchange()

  private let client: HTTPClient

  private init() {
    var configuration = HTTPClient.Configuration()
    // A redirect must not receive a token or a signed message.
    configuration.redirectConfiguration = .disallow
    configuration.timeout.connect = .seconds(10)
    // The largest concurrency that a webhook can be configured with; Apple's hosts use one HTTP/2 connection.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    // Callers record spans with more meaning than a method, and the export of spans records none.
    configuration.tracing.tracer = nil
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  package func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = HTTPMethod(rawValue: request.method)
    for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
    // Outgoing proxies read it; Apple ignores it.
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
