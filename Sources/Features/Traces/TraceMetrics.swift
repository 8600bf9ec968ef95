internal import Metrics

/// Metrics of the export of spans.
enum TraceMetrics {
  /// The reason for which a recorded span does not reach the collector.
  enum Reason: String, CaseIterable {
    /// The queue of spans was full.
    case queueFull = "queue_full"
    /// The collector refused it.
    case rejected
    /// The collector did not accept it within all attempts.
    case unreachable
    /// The process ended before they were exported.
    case shutDown = "shut_down"
  }

  private static let exported = Counter(label: "entitled_trace_spans_exported_total")
  private static let queued = Gauge(label: "entitled_trace_spans_queued")
  private static let dropped = Dictionary(
    uniqueKeysWithValues: Reason.allCases.map { reason in
      (
        reason,
        Counter(label: "entitled_trace_spans_dropped_total", dimensions: [("reason", reason.rawValue)])
      )
    })

  /// Counts spans that the collector accepted.
  static func export(_ count: Int) { exported.increment(by: count) }

  /// Counts spans that no collector gets.
  static func drop(_ count: Int, _ reason: Reason) { dropped[reason]?.increment(by: count) }

  /// Records the length of the queue.
  static func record(queued count: Int) { queued.record(count) }
}
