package import Callers
internal import HTTP
internal import JSON

/// `GET /readyz` on the edge: readiness and the failed health checks.
///
/// 200 also in degraded operation: a service that cannot write still answers queries. `grpc.health.v1` has
/// the status of each service.
///
/// Probes have no credential, and causes can name apps, files and addresses. So they are shown only while every client is
/// allowed; otherwise `GetStatus` and the log have them.
package struct ReadinessEndpoint: Sendable {
  private let monitor: HealthMonitor
  private let callers: CurrentCallers

  /// - Parameters:
  ///   - monitor: performs the health checks.
  ///   - callers: the callers in force.
  package init(monitor: HealthMonitor, callers: CurrentCallers) {
    self.monitor = monitor
    self.callers = callers
  }

  /// Responds with the stored results of the last checks, and runs none: 200 or 503, and the failed checks in the body.
  func respond() -> HTTPResponse {
    let results = monitor.results
    let showsCauses = callers.value.isOpen
    let isReady = monitor.isReady
    let hasProblem = results.contains { $0.problem != nil }
    let body: JSONObject = [
      "status": isReady ? (hasProblem ? "degraded" : "ready") : "not ready",
      "checks": .array(results.map { .object(Self.check($0, showsCause: showsCauses)) }),
    ]
    return .json(isReady ? 200 : 503, body.serialized(pretty: true) + [UInt8(ascii: "\n")])
  }

  private static func check(_ result: HealthCheckResult, showsCause: Bool) -> JSONObject {
    var check: JSONObject = [
      "name": .string(result.dependency.rawValue), "ok": .bool(result.problem == nil),
    ]
    guard let problem = result.problem else { return check }
    if showsCause { check["problem"] = .string(problem) }
    check["stops"] = .array(result.stops.filter { !$0.isEmpty }.map { .string($0) })
    return check
  }
}
