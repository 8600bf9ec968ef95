package import Tracing

/// A span that has ended, as an exporter receives it.
package struct SpanRecord: Sendable {
  package let name: String
  package let kind: SpanKind
  package let trace: TraceContext
  /// The id of the parent span in 16 hexadecimal digits; `nil` for the first span of a trace.
  package let parentID: String?
  /// Whether the parent span is another service's.
  package let hasRemoteParent: Bool
  /// Nanoseconds since 1970.
  package let start: UInt64
  /// Nanoseconds since 1970; not before ``start``.
  package let end: UInt64
  package let attributes: SpanAttributes
  package let events: [SpanEvent]
  package let links: [SpanLink]
  package let status: SpanStatus?
  /// The number of events and links over the limit.
  package let droppedEvents: Int
  package let droppedLinks: Int
}
