internal import Bytes
internal import Synchronization
package import Tracing

/// A span of a ``RecordingTracer``. Thread-safe. One that is not sampled records nothing and passes its context on.
package final class RecordedSpan: Tracing.Span {
  private struct State {
    var name: String
    var attributes = SpanAttributes()
    var events: [SpanEvent] = []
    var links: [SpanLink] = []
    var droppedEvents = 0
    var droppedLinks = 0
    var status: SpanStatus?
    var hasEnded = false
  }

  /// The trace with the id of this span.
  package let trace: TraceContext
  private let parentID: String?
  private let hasRemoteParent: Bool
  private let kind: SpanKind
  private let start: UInt64
  private let tracer: RecordingTracer
  private let parent: ServiceContext
  private let state: Mutex<State>

  /// Further ones are counted, not recorded: a span must not grow with the work in it.
  private static let maxEvents = 32
  /// As ``maxEvents``.
  private static let maxLinks = 32

  init(
    _ name: String, _ kind: SpanKind, trace: TraceContext, parentID: String?, hasRemoteParent: Bool,
    start: UInt64, tracer: RecordingTracer, parent: ServiceContext
  ) {
    self.trace = trace
    self.parentID = parentID
    self.hasRemoteParent = hasRemoteParent
    self.kind = kind
    self.start = start
    self.tracer = tracer
    self.parent = parent
    state = Mutex(State(name: name))
  }

  /// Starts a span within this one.
  package func child(_ name: String, _ kind: SpanKind) -> RecordedSpan {
    return RecordedSpan(
      name, kind, trace: trace.child(), parentID: trace.spanID, hasRemoteParent: false,
      start: DefaultTracerClock.now.nanosecondsSinceEpoch, tracer: tracer, parent: parent)
  }

  /// Whether the span is exported; otherwise attributes, events and links are dropped at once.
  package var isRecording: Bool { trace.isSampled }

  /// The context of code that runs within the span.
  package var context: ServiceContext {
    var context = parent
    context.trace = trace
    context.span = isRecording ? self : nil
    return context
  }

  /// The name of the operation, without values of the call.
  package var operationName: String {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }

  /// By the semantic conventions of OpenTelemetry where they have a name.
  package var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { if isRecording { state.withLock { $0.attributes = newValue } } }
  }

  /// Sets one attribute.
  package func set(_ name: String, _ value: SpanAttribute) {
    if isRecording { state.withLock { $0.attributes.set(name, value: value) } }
  }

  /// Replaces the status.
  package func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

  /// Adds an event; above ``maxEvents`` it is only counted.
  package func addEvent(_ event: SpanEvent) {
    guard isRecording else { return }
    state.withLock { state in
      if state.events.count < Self.maxEvents { state.events.append(event) } else { state.droppedEvents += 1 }
    }
  }

  /// Adds a link; above ``maxLinks`` it is only counted.
  package func addLink(_ link: SpanLink) {
    guard isRecording else { return }
    state.withLock { state in
      if state.links.count < Self.maxLinks { state.links.append(link) } else { state.droppedLinks += 1 }
    }
  }

  /// Adds the event `exception` with the kind of the error. Its text may name customers, so it is left out.
  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    var attributes = attributes
    attributes["exception.type"] = Self.kind(of: error)
    addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
  }

  /// Marks the span as failed, with the kind of the error as `error.type`.
  package func fail(_ error: any Error) {
    set("error.type", .string(Self.kind(of: error)))
    setStatus(SpanStatus(code: .error))
  }

  /// Hands the span to the exporter. Further calls have no effect.
  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    guard isRecording else { return }
    let end = max(start, instant().nanosecondsSinceEpoch)
    let record: SpanRecord? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      return SpanRecord(
        name: state.name, kind: kind, trace: trace, parentID: parentID, hasRemoteParent: hasRemoteParent,
        start: start, end: end, attributes: state.attributes, events: state.events, links: state.links,
        status: state.status, droppedEvents: state.droppedEvents, droppedLinks: state.droppedLinks)
    }
    if let record { tracer.record(record) }
  }

  /// The case of an enumeration, otherwise the type: low cardinality, and no text of the error.
  private static func kind(of error: any Error) -> String {
    let mirror = Mirror(reflecting: error)
    if mirror.displayStyle == .enum, let name = mirror.children.first?.label { return name }
    // The text of such an error is its description, and otherwise the name of the case.
    let hasText = mirror.displayStyle != .enum || error is any CustomStringConvertible
    return hasText ? "\(type(of: error))" : "\(type(of: error)).\(error)"
  }
}

/// A span that has ended, as an exporter receives it.
package struct SpanRecord: Sendable {
  /// ``RecordedSpan/operationName`` at the end.
  package let name: String
  /// The side of the call, as OpenTelemetry defines it.
  package let kind: SpanKind
  /// The ids of the trace and of this span.
  package let trace: TraceContext
  /// The id of the parent span in 16 hexadecimal digits; `nil` for the first span of a trace.
  package let parentID: String?
  /// Whether the parent span is another service's.
  package let hasRemoteParent: Bool
  /// Nanoseconds since 1970.
  package let start: UInt64
  /// Nanoseconds since 1970; not before ``start``.
  package let end: UInt64
  /// As they were at the end.
  package let attributes: SpanAttributes
  /// At most 32, in order.
  package let events: [SpanEvent]
  /// At most 32.
  package let links: [SpanLink]
  /// `nil`: neither failed nor marked as OK.
  package let status: SpanStatus?
  /// The number of events and links over the limit.
  package let droppedEvents: Int
  /// The links beyond the maximum number of a span, which were not recorded.
  package let droppedLinks: Int
}
