internal import HTTP
internal import JSON

/// `GET /readyz` on the edge: whether calls are answered, and what is wrong where something is.
///
/// 200 also while only part of the work can be done: a service that cannot write still answers questions, and
/// nobody else would. What stops which service is told by `grpc.health.v1` for each.
package struct ReadinessEndpoint: Sendable {
  private let monitor: HealthMonitor

  /// The page of what `monitor` finds.
  package init(monitor: HealthMonitor) { self.monitor = monitor }

  func respond() -> HTTPResponse {
    let findings = monitor.findings
    let isReady = monitor.isReady
    let hasProblem = findings.contains { $0.problem != nil }
    let body: JSONObject = [
      "status": isReady ? (hasProblem ? "degraded" : "ready") : "not ready",
      "checks": .array(findings.map { .object(Self.check($0)) }),
    ]
    return .json(isReady ? 200 : 503, body.serialized(pretty: true) + [UInt8(ascii: "\n")])
  }

  private static func check(_ finding: HealthCheckResult) -> JSONObject {
    var check: JSONObject = [
      "name": .string(finding.dependency.rawValue), "ok": .bool(finding.problem == nil),
    ]
    guard let problem = finding.problem else { return check }
    check["problem"] = .string(problem)
    check["stops"] = .array(finding.stops.filter { !$0.isEmpty }.map { .string($0) })
    return check
  }
}
