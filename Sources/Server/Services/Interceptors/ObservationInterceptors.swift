internal import HTTP
internal import RPC
package import Telemetry

/// Counts each call by method and status code, and measures its duration.
struct MeteringInterceptor: Interceptor, Sendable {
  /// The counters of one event loop, or those that all other threads share.
  let shard: CallMeter.Shard
  /// Nanoseconds of a monotonic clock.
  let ticks: @Sendable () -> Int64

  func end(_ call: inout CallInFlight, _ failure: Status?) {
    guard let index = call.method.meterIndex else { return }
    shard.count(index, code: failure.code.rawValue, nanoseconds: ticks() - call.startTicks)
  }
}

/// Writes mutating calls, and calls that failed because of the service, to the audit log.
struct AuditInterceptor: Interceptor, Sendable {
  let audit: @Sendable (AuditRecord) -> Void

  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    guard call.method.mutates, !call.method.isStreaming else { return }
    call.subject = call.method.subject(of: message)
  }

  func end(_ call: inout CallInFlight, _ failure: Status?) {
    guard call.shouldAudit(failure.code), let trace = call.trace else { return }
    audit(
      AuditRecord(
        caller: call.context.caller, method: call.method.path, mutates: call.method.mutates,
        apps: call.subject.apps, customers: call.subject.customers, actor: call.subject.actor,
        outcome: failure.code.name, error: failure?.internalMessage ?? "", trace: trace))
  }
}

/// One call in the audit log. It contains no contents of documents or tokens.
package struct AuditRecord: Hashable, Sendable {
  /// The operator's name of the caller; empty if callers are not authenticated or authentication failed.
  package let caller: String
  /// `/package.Service/Method`, or the HTTP method and route.
  package let method: String
  /// Whether the call changes data; otherwise it is recorded because the service failed.
  package let mutates: Bool
  /// The apps that the request names.
  package let apps: [String]
  /// The customers that the request names.
  package let customers: [String]
  /// The person or system for which the caller acts, as the request states it.
  package let actor: String
  /// The name of gRPC's status code, such as `OK`.
  package let outcome: String
  /// The error message and its internal cause; empty for success.
  package let error: String
  /// The trace of the call and its request id.
  package let trace: TraceContext
}

/// Gives calls a trace context, whose request id the chain returns to the caller.
///
/// Calls on the event loop get one only if the audit log records them: the hot path draws no random numbers.
struct TracingInterceptor: Interceptor, Sendable {
  func start(_ call: inout CallInFlight) throws(Status) {
    if !call.method.isOnEventLoop { call.trace = Self.trace(call) }
  }

  func end(_ call: inout CallInFlight, _ failure: Status?) {
    if call.trace == nil, call.shouldAudit(failure.code) { call.trace = Self.trace(call) }
  }

  private static func trace(_ call: CallInFlight) -> TraceContext {
    var generator = SystemRandomNumberGenerator()
    return TraceContext(continuing: call.context.headers["traceparent"], using: &generator)
  }
}
