internal import AsyncHTTPClient
internal import Glibc
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
    let complete = outgoing
    // The client's own timeout ends with the header fields of a response, and its body might never end.
    let result = await withTaskGroup(of: Result<IncomingResponse, HTTPExchangeError>?.self) { group in
      group.addTask { await self.exchange(complete, timeout: timeout, limit: limit) }
      group.addTask {
        try? await Task.sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    guard let result else { throw Task.isCancelled ? .cancelled : .timedOut }
    return try result.get()
  }

  private func exchange(
    _ request: HTTPClientRequest, timeout: Duration, limit: Int
  ) async -> Result<IncomingResponse, HTTPExchangeError> {
    do {
      let response = try await client.execute(request, timeout: TimeAmount(timeout))
      let body = try await response.body.collect(upTo: limit)
      return .success(
        IncomingResponse(
          status: Int(response.status.code),
          headers: response.headers.map { ($0.name.lowercased(), $0.value) },
          body: Array(body.readableBytesView)))
    } catch is NIOTooManyBytesError {
      return .failure(.tooLarge)
    } catch is CancellationError {
      return .failure(.cancelled)
    } catch let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout {
      return .failure(.timedOut)
    } catch let error as HTTPClientError where error == .cancelled {
      return .failure(.cancelled)
    } catch let error as IOError {
      return .failure(.unreachable(String(cString: strerror(error.errnoCode))))
    } catch {
      return .failure(.unreachable("\(error)"))
    }
  }
}
