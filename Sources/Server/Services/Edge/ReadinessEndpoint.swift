internal import HTTP
internal import JSON

/// `GET /readyz` on the edge: readiness and the failed health checks.
///
/// 200 also in degraded operation: a service that cannot write still answers queries. `grpc.health.v1` has
/// the status of each service.
package struct ReadinessEndpoint: Sendable {
  private let monitor: HealthMonitor

  /// - Parameter monitor: performs the health checks.
  package init(monitor: HealthMonitor) { self.monitor = monitor }

  /// Responds with the stored results of the last checks, and runs none: 200 or 503, and the reasons in the body.
  func respond() -> HTTPResponse {
    let results = monitor.results
    let isReady = monitor.isReady
    let hasProblem = results.contains { $0.problem != nil }
    let body: JSONObject = [
      "status": isReady ? (hasProblem ? "degraded" : "ready") : "not ready",
      "checks": .array(results.map { .object(Self.check($0)) }),
    ]
    return .json(isReady ? 200 : 503, body.serialized(pretty: true) + [UInt8(ascii: "\n")])
  }

  private static func check(_ result: HealthCheckResult) -> JSONObject {
    var check: JSONObject = [
      "name": .string(result.dependency.rawValue), "ok": .bool(result.problem == nil),
    ]
    guard let problem = result.problem else { return check }
    check["problem"] = .string(problem)
    check["stops"] = .array(result.stops.filter { !$0.isEmpty }.map { .string($0) })
    return check
  }
}
