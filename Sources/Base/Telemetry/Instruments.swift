internal import CoreMetrics
internal import Synchronization

/// What swift-metrics writes to and a scrape reads from.
protocol Instrument: AnyObject, Sendable {
  var value: MetricSample.Value { get }
}

/// A number that only goes up.
final class CounterCell: Instrument, CounterHandler {
  private let count = Atomic<Int64>(0)

  func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }

  func reset() { count.store(0, ordering: .relaxed) }

  var value: MetricSample.Value { .number(Double(count.load(ordering: .relaxed))) }
}

/// A number that goes up and down: the last one that was said.
final class GaugeCell: Instrument, MeterHandler, RecorderHandler {
  private let level = Mutex<Double>(0)

  func set(_ value: Int64) { set(Double(value)) }

  func set(_ value: Double) { level.withLock { $0 = value } }

  func increment(by amount: Double) { level.withLock { $0 += amount } }

  func decrement(by amount: Double) { increment(by: -amount) }

  func record(_ value: Int64) { set(Double(value)) }

  func record(_ value: Double) { set(value) }

  var value: MetricSample.Value { .number(level.withLock { $0 }) }
}

/// How observations are spread. Times come in nanoseconds and are told in seconds.
final class HistogramCell: Instrument, RecorderHandler, TimerHandler {
  private struct State {
    var buckets: [UInt64]
    var sum = 0.0
  }

  private let bounds: [Double]
  private let state: Mutex<State>

  init(bounds: [Double]) {
    self.bounds = bounds
    state = Mutex(State(buckets: [UInt64](repeating: 0, count: bounds.count + 1)))
  }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock { state in
      state.buckets[bucket] += 1
      state.sum += value
    }
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  var value: MetricSample.Value {
    let state = state.withLock { $0 }
    return .histogram(buckets: state.buckets, sum: state.sum)
  }
}
