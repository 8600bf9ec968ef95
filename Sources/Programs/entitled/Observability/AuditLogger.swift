internal import Logging
internal import Services
internal import Telemetry

/// Where calls are written down: those that change something in a log of its own, so that it can be kept elsewhere
/// and longer than the others; those that the service failed in the log of calls.
struct AuditLogger: Sendable {
  private let audit = Logger(label: "entitled.audit")
  private let failures = Logger(label: "entitled.calls")

  func write(_ record: AuditRecord) {
    var metadata: Logger.Metadata = [
      "caller": .string(record.caller.isEmpty ? "-" : record.caller), "method": .string(record.method),
      "outcome": .string(record.outcome), "trace_id": .string(record.trace.traceID),
      "request_id": .string(record.trace.requestID),
    ]
    if !record.apps.isEmpty { metadata["app"] = .string(record.apps.joined(separator: ",")) }
    if !record.customers.isEmpty { metadata["customer"] = .array(record.customers.map { .string($0) }) }
    if !record.actor.isEmpty { metadata["actor"] = .string(record.actor) }
    if !record.problem.isEmpty { metadata["problem"] = .string(record.problem) }
    if record.mutates {
      audit.info("call", metadata: metadata)
    } else {
      failures.warning("a call failed", metadata: metadata)
    }
  }
}
