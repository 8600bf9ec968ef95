/// Decides at the head of a trace whether its spans are recorded.
package struct TraceSampler: Hashable, Sendable {
  /// The share of 2^63 traces that is recorded.
  private let threshold: UInt64
  private let followsParent: Bool

  /// - Parameters:
  ///   - ratio: the share of traces that is recorded, from 0 to 1.
  ///   - followsParent: whether the flag of a caller's `traceparent` decides about its calls; otherwise the ratio does.
  package init(ratio: Double, followsParent: Bool) {
    threshold = UInt64(min(max(ratio, 0), 1) * 0x1p63)
    self.followsParent = followsParent
  }

  /// Whether a trace is recorded. `number` is evenly distributed over all values, such as a part of the trace id.
  package func samples(_ parent: TraceParent?, number: UInt64) -> Bool {
    if followsParent, let parent { return parent.isSampled }
    // The trace id decides, so that all services with this ratio agree about the traces of one caller.
    return (parent?.low ?? number) >> 1 < threshold
  }

  /// Whether the call of an event loop that began at `ticks` nanoseconds is recorded; draws no random number.
  package func samples(_ parent: TraceParent?, ticks: Int64) -> Bool {
    // The finalizer of splitmix64: each bit of the result depends on each bit of the time.
    var number = UInt64(bitPattern: ticks) &+ 0x9E37_79B9_7F4A_7C15
    number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
    return samples(parent, number: number ^ number >> 31)
  }
}
