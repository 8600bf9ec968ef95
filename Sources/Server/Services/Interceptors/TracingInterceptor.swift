internal import HTTP
internal import RPC
internal import Telemetry

/// Gives calls a trace context, and returns their request id with the status.
///
/// Calls on the event loop get one only if the audit log records them: the hot path draws no random numbers.
struct TracingInterceptor: Interceptor, Sendable {
  func start(_ call: inout CallInFlight) throws(Status) {
    if !call.method.isOnEventLoop { call.trace = Self.trace(call) }
  }

  func end(_ call: inout CallInFlight, _ status: inout Status) {
    if call.trace == nil, call.shouldAudit(status.code) { call.trace = Self.trace(call) }
    if let trace = call.trace { status.requestID = trace.requestID }
  }

  private static func trace(_ call: CallInFlight) -> TraceContext {
    var generator = SystemRandomNumberGenerator()
    return TraceContext(continuing: call.context.headers["traceparent"], using: &generator)
  }
}
