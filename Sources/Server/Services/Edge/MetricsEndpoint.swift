internal import Callers
internal import HTTP
internal import RPC
internal import Telemetry

/// `GET /metrics` on the edge, in the Prometheus formats.
///
/// The numbers reveal how much an app sells, so the caller needs the role `read`.
package struct MetricsEndpoint: Sendable {
  private static let policy = MethodPolicy(path: "GET /metrics", role: .read)

  private let registry: MetricsRegistry
  private let chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>

  init(
    registry: MetricsRegistry, chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>>
  ) {
    self.registry = registry
    self.chain = chain
  }

  /// Nanoseconds of a monotonic clock.
  var ticks: Int64 { chain.ticks() }

  func respond(to request: HTTPRequest) -> HTTPResponse {
    guard ["GET", "HEAD"].contains(request.method) else { return .methodNotAllowed("GET, HEAD") }
    do throws(Status) {
      _ = try chain.start(
        Self.policy, CallContext(headers: request.headers, timeout: nil, peer: request.peer))
    } catch {
      return JSONGateway.failure(error, httpStatus: error.code.httpStatus)
    }
    let format = MetricsTextWriter.Format(accept: request.header("accept"))
    let text = MetricsTextWriter.write(registry.samples(), of: registry.families, as: format)
    return HTTPResponse(
      status: 200, headers: HeaderFields([("content-type", format.contentType)]), body: Array(text.utf8))
  }
}
