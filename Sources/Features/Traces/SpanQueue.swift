internal import Platform
internal import Synchronization
package import Telemetry

/// The recorded spans that wait for their export: at most a fixed number, so that a collector that is away costs no memory.
package final class SpanQueue: Sendable {
  private struct State: ~Copyable {
    var spans: [SpanRecord] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let batch: Int
  private let batches = Signal()

  /// Holds at most `capacity` spans; `batch` of them, or a full queue if that is less, wake the exporter before its
  /// time.
  package init(capacity: Int, batch: Int) {
    self.capacity = capacity
    self.batch = min(batch, capacity)
  }

  /// The number of spans that wait.
  package var count: Int { state.withLock { $0.spans.count } }

  /// Adds a span, or discards and counts it if the queue is full or closed. Does not block.
  package func add(_ span: SpanRecord) {
    let (isKept, isBatch) = state.withLock { state in
      guard !state.isClosed, state.spans.count < capacity else { return (false, false) }
      state.spans.append(span)
      return (true, state.spans.count == batch)
    }
    if !isKept { TraceMetrics.drop(1, .queueFull) }
    if isBatch { batches.send() }
  }

  /// Removes and returns the oldest spans, at most `limit`.
  func take(_ limit: Int) -> [SpanRecord] {
    state.withLock { state in
      let taken = Array(state.spans.prefix(limit))
      state.spans.removeFirst(taken.count)
      return taken
    }
  }

  /// Returns spans that were taken and not exported to the front. The queue may exceed its capacity by them until they
  /// are taken again.
  func putBack(_ spans: [SpanRecord]) { state.withLock { $0.spans.insert(contentsOf: spans, at: 0) } }

  /// Discards and counts all spans, and those that are added later.
  func close() {
    let rest = state.withLock { state in
      state.isClosed = true
      defer { state.spans = [] }
      return state.spans.count
    }
    if rest > 0 { TraceMetrics.drop(rest, .shutDown) }
  }

  /// Emits an element each time the queue has grown to a batch.
  func listen() -> AsyncStream<Void> { batches.listen() }
}
