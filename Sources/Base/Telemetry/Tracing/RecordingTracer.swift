internal import Bytes
package import Tracing

/// The tracer of swift-distributed-tracing: samples traces at their head and hands recorded spans to an exporter.
package final class RecordingTracer: Tracer {
  package typealias Span = RecordedSpan

  package let sampler: TraceSampler
  let record: @Sendable (SpanRecord) -> Void

  /// `record` receives each span when it ends, on any thread. It must not block.
  package init(sampler: TraceSampler, record: @escaping @Sendable (SpanRecord) -> Void) {
    self.sampler = sampler
    self.record = record
  }

  /// The tracer of the process or of the current task; `nil` if none is installed.
  package static var installed: RecordingTracer? { InstrumentationSystem.tracer as? RecordingTracer }

  /// Starts the first span of a call that arrived with `parent`. `isSampled` is the sampler's decision, if it was made
  /// already; `request` is the id of a request that several calls serve.
  package func startCall(
    _ name: String, _ kind: SpanKind = .server, continuing parent: TraceParent?, isSampled: Bool? = nil,
    request: UInt64? = nil
  ) -> RecordedSpan {
    let isSampled = isSampled ?? sampler.samples(parent, number: .random(in: .min ... .max))
    return RecordedSpan(
      name, kind,
      trace: TraceContext(following: parent, isSampled: isSampled, request: request),
      parentID: parent.map { Hex.encode($0.span) }, hasRemoteParent: parent != nil,
      start: DefaultTracerClock.now.nanosecondsSinceEpoch, tracer: self, parent: .topLevel)
  }

  /// Starts the first span of a call whose sender is not authenticated. It continues the trace, but the ratio decides by
  /// chance whether it is recorded, because the sender chooses the flag and the trace id.
  package func startUnauthenticatedCall(_ name: String, continuing parent: TraceParent?) -> RecordedSpan {
    startCall(name, continuing: parent, isSampled: samplesByChance())
  }

  /// Decides by the ratio alone.
  package func samplesByChance() -> Bool {
    return sampler.samples(nil, number: .random(in: .min ... .max))
  }

  /// Starts a span for code that uses swift-distributed-tracing itself.
  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> RecordedSpan {
    let context = context()
    let trace =
      context.trace?.child()
      ?? TraceContext(
        following: nil, isSampled: sampler.samples(nil, number: .random(in: .min ... .max)))
    return RecordedSpan(
      operationName, kind, trace: trace, parentID: context.trace?.spanID, hasRemoteParent: false,
      start: instant().nanosecondsSinceEpoch, tracer: self, parent: context)
  }

  package func forceFlush() {}

  /// Reads the `traceparent` of a carrier.
  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let parent = extractor.extract(key: "traceparent", from: carrier).flatMap({ TraceParent($0) })
    else {
      return
    }
    context.trace = TraceContext(
      following: parent, isSampled: sampler.samples(parent, number: parent.low))
  }

  /// Writes the `traceparent` of a context into a carrier.
  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let trace = context.trace else { return }
    injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
  }
}
