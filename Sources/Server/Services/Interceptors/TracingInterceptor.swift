internal import Bytes
internal import HTTP
internal import RPC
internal import Telemetry
internal import Tracing

/// Gives calls a trace context, whose request id the chain returns to the caller, and records the spans of sampled calls.
///
/// Calls on the event loop get one only if they are sampled or the audit log records them: the hot path draws no random
/// numbers.
struct TracingInterceptor: Interceptor, Sendable {
  /// `nil`: no spans are recorded.
  let tracer: RecordingTracer?
  /// The id of the request that the calls serve together; `nil`: each call has its own.
  var request: UInt64?

  /// Follows the caller's `traceparent`, or begins a trace; on an event loop only if the call is sampled.
  func start(_ call: inout CallInFlight) throws(Status) {
    guard call.method.isOnEventLoop else { return begin(&call, continuing: call.traceParent, isSampled: nil) }
    guard let tracer else { return }
    let parent = call.traceParent
    if tracer.sampler.samples(parent, ticks: call.startTicks) {
      begin(&call, continuing: parent, isSampled: true)
    }
  }

  /// Ends the span. A call on an event loop that fails without a trace gets one, so that the audit log can name its
  /// request id.
  func end(_ call: inout CallInFlight, _ failure: Status?) {
    if call.trace == nil, call.shouldAudit(failure.code) {
      call.trace = TraceContext(
        following: call.traceParent, isSampled: tracer.map { _ in false }, request: request)
    }
    if isRecorded(call) { call.span?.end(of: call, failure) }
  }

  /// Whether the span of a call is exported. The `traceparent` of a sender without a caller, which was followed before
  /// authentication, does not decide about it.
  private func isRecorded(_ call: CallInFlight) -> Bool {
    guard let tracer, call.span != nil, call.caller == nil, call.traceParent != nil else { return true }
    return tracer.samplesByChance()
  }

  private func begin(_ call: inout CallInFlight, continuing parent: TraceParent?, isSampled: Bool?) {
    guard let tracer else {
      call.trace = TraceContext(following: parent, request: request)
      return
    }
    let span = tracer.startCall(
      call.method.spanName, continuing: parent, isSampled: isSampled, request: request)
    call.trace = span.trace
    if span.isRecording { call.span = span }
  }
}

extension CallInFlight {
  /// The caller's `traceparent`.
  fileprivate var traceParent: TraceParent? {
    guard context.mayHaveTraceParent else { return nil }
    var parent: TraceParent?
    context.headers.withFields { fields in
      for field in fields where field.name.equals("traceparent") {
        parent = TraceParent(field.value)
        return
      }
    }
    return parent
  }
}

extension MethodPolicy {
  /// The name of a call's span (semantic conventions, "gRPC"): `package.Service/Method`.
  fileprivate var spanName: String { path.hasPrefix("/") ? String(path.dropFirst()) : path }
}

extension RecordedSpan {
  /// Ends the span of a call. It names neither customers nor texts of errors, which may contain them.
  fileprivate func end(of call: CallInFlight, _ failure: Status?) {
    var attributes = SpanAttributes()
    if call.method.meterIndex != nil {
      let names = operationName.split(separator: "/", maxSplits: 1)
      attributes["rpc.system"] = "grpc"
      attributes["rpc.service"] = names.first.map { String($0) }
      attributes["rpc.method"] = names.last.map { String($0) }
    }
    attributes["rpc.grpc.status_code"] = failure.code.rawValue
    if !call.context.caller.isEmpty { attributes["entitled.caller"] = call.context.caller }
    if !call.subject.app.isEmpty { attributes["entitled.app"] = call.subject.app }
    if let reason = failure?.reason { attributes["error.type"] = reason }
    self.attributes = attributes
    if let failure, failure.code.isServiceFailure { setStatus(SpanStatus(code: .error)) }
    end()
  }
}

extension StatusCode {
  /// Whether the service failed and not the caller (semantic conventions, "gRPC Status").
  fileprivate var isServiceFailure: Bool {
    switch self {
    case .unknown, .deadlineExceeded, .unimplemented, .internalError, .unavailable, .dataLoss: true
    default: false
    }
  }
}
