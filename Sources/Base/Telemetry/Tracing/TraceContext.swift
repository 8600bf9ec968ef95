internal import Bytes
package import Tracing

/// The position of a call in a trace (W3C Trace Context). The trace id comes from the caller or is generated; each traced
/// call has its own id, `request_id` in the logs; calls that serve one page of the console share it.
package struct TraceContext: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64
  private let request: UInt64
  private let span: UInt64
  /// Whether the spans of the trace are recorded, by the caller if not here; outgoing calls carry it on.
  package let isSampled: Bool

  /// The context of the call that the current task serves, for log lines and outgoing calls.
  package static var current: TraceContext? { ServiceContext.current?.trace }

  /// Continues the trace of a `traceparent` header; starts a new trace if it is missing or malformed.
  package init(continuing traceparent: String?) {
    self.init(following: traceparent.flatMap { TraceParent($0) })
  }

  /// Continues a trace, or starts a new one. `isSampled` is the decision of a sampler; `nil` keeps the caller's.
  /// `request` is the id that several calls of one request share, never 0; `nil`: a new id.
  package init(following parent: TraceParent?, isSampled: Bool? = nil, request: UInt64? = nil) {
    high = parent?.high ?? .random(in: .min ... .max)
    low = parent?.low ?? Self.newID()
    span = Self.newID()
    self.request = request ?? span
    self.isSampled = isSampled ?? parent?.isSampled ?? false
  }

  private init(_ parent: TraceContext, span: UInt64) {
    high = parent.high
    low = parent.low
    request = parent.request
    self.span = span
    isSampled = parent.isSampled
  }

  /// The context of an operation within this one: the same call with another span.
  package func child() -> TraceContext { TraceContext(self, span: Self.newID()) }

  /// A random id, never 0.
  private static func newID() -> UInt64 { .random(in: .min ... .max) | 1 }

  /// 32 lowercase hexadecimal digits, not all zero.
  package var traceID: String { Hex.encode(high) + Hex.encode(low) }

  /// The id of the call, or of the request that it serves with others: 16 lowercase hexadecimal digits, not all zero.
  package var requestID: String { Hex.encode(request) }

  /// The id of the current operation of the call; that of the call itself outside of recorded spans.
  package var spanID: String { Hex.encode(span) }

  /// The `traceparent` header of outgoing calls, whose parent is this operation.
  package var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

extension ServiceContext {
  private enum TraceKey: ServiceContextKey {
    typealias Value = TraceContext
    static let nameOverride: String? = "trace"
  }

  private enum SpanKey: ServiceContextKey {
    typealias Value = RecordedSpan
    static let nameOverride: String? = "span"
  }

  /// The trace of the call; `nil` outside of calls.
  package var trace: TraceContext? {
    get { self[TraceKey.self] }
    set { self[TraceKey.self] = newValue }
  }

  /// The span that is recorded now; `nil` if the call is not sampled.
  package var span: RecordedSpan? {
    get { self[SpanKey.self] }
    set { self[SpanKey.self] = newValue }
  }

  /// The context of a call without recorded spans.
  package init(_ trace: TraceContext) {
    self = .topLevel
    self.trace = trace
  }
}
