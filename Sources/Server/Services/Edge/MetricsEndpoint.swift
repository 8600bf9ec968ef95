internal import Callers
internal import HTTP
internal import RPC
package import Telemetry

/// `GET /metrics` on the edge: what the program counts, for Prometheus and whoever reads its format.
///
/// It tells outsiders how much business there is, so that it takes a caller with the role `read`, as asking does.
package struct MetricsEndpoint: Sendable {
  private let registry: MetricsRegistry
  let door: Door

  /// The page of what `registry` keeps, behind `door`.
  package init(registry: MetricsRegistry, door: Door) {
    self.registry = registry
    self.door = door
  }

  func respond(to request: HTTPRequest) -> HTTPResponse {
    guard ["GET", "HEAD"].contains(request.method) else { return .methodNotAllowed("GET, HEAD") }
    if let refusal = door.refusal(of: request.headers, needing: .read) {
      return JSONGateway.failure(refusal, httpStatus: refusal.code.httpStatus)
    }
    let format = MetricsTextWriter.Format(accept: request.header("accept"))
    let text = MetricsTextWriter.write(registry.samples(), of: registry.families, as: format)
    return HTTPResponse(
      status: 200, headers: HeaderFields([("content-type", format.contentType)]), body: Array(text.utf8))
  }
}
