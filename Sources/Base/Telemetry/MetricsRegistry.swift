package import CoreMetrics
internal import Synchronization

/// The backend of swift-metrics. It stores the metrics of the process and returns them to scrapes.
///
/// swift-prometheus does not support counters of single event loops, such as ``CallMeter``.
package final class MetricsRegistry: Sendable {
  private struct Series {
    let labels: [(name: String, value: String)]
    let instrument: any Instrument
  }

  private struct Key: Hashable {
    let name: String
    let labels: [String]
  }

  /// The described metrics, in the order of a scrape.
  package let families: [MetricFamily]
  private let bounds: [String: [Double]]
  private let series = Mutex<[Key: Series]>([:])
  private let sources = Mutex<[any MetricsSource]>([])

  /// A registry for `families`. Metrics of other names are exposed without a help text.
  package init(families: [MetricFamily]) {
    self.families = families
    bounds = Dictionary(families.map { ($0.name, $0.bounds) }, uniquingKeysWith: { first, _ in first })
  }

  /// Adds a source of samples.
  package func add(_ source: any MetricsSource) { sources.withLock { $0.append(source) } }

  /// Returns all current samples.
  package func samples() -> [MetricSample] {
    let stored = series.withLock { series in
      series.map { (name: $0.key.name, labels: $0.value.labels, instrument: $0.value.instrument) }
    }
    let sources = sources.withLock { $0 }
    return stored.map { MetricSample($0.name, labels: $0.labels, $0.instrument.value) }
      + sources.flatMap { $0.samples() }
  }

  private func instrument<Created: Instrument>(
    _ name: String, _ dimensions: [(String, String)], _ make: ([Double]) -> Created
  ) -> Created {
    let key = Key(name: name, labels: dimensions.flatMap { [$0.0, $0.1] })
    return series.withLock { series in
      if let existing = series[key]?.instrument as? Created { return existing }
      let instrument = make(bounds[name].flatMap { $0.isEmpty ? nil : $0 } ?? MetricFamily.waitBounds)
      series[key] = Series(labels: dimensions.map { (name: $0.0, value: $0.1) }, instrument: instrument)
      return instrument
    }
  }
}

extension MetricsRegistry: MetricsFactory {
  /// Returns the counter with this name and these labels; the same one for each call.
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    instrument(label, dimensions) { _ in CounterCell() }
  }

  /// Returns the gauge with this name and these labels; the same one for each call.
  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    instrument(label, dimensions) { _ in GaugeCell() }
  }

  /// Returns a histogram with the bounds of its family, or without `aggregate` a gauge, which has the last value only.
  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? instrument(label, dimensions) { HistogramCell(bounds: $0) }
      : instrument(label, dimensions) { _ in GaugeCell() }
  }

  /// Returns a histogram. swift-metrics passes nanoseconds; a scrape has seconds.
  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    instrument(label, dimensions) { HistogramCell(bounds: $0) }
  }

  // Values are kept, because a counter that decreases looks like a restart of the process.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
}

/// A value that swift-metrics writes and a scrape reads.
protocol Instrument: AnyObject, Sendable {
  var value: MetricSample.Value { get }
}

/// A monotonic counter.
final class CounterCell: Instrument, CounterHandler {
  private let count = Atomic<Int64>(0)

  func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }

  func reset() { count.store(0, ordering: .relaxed) }

  var value: MetricSample.Value { .number(Double(count.load(ordering: .relaxed))) }
}

/// A gauge: the last value that was recorded.
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

/// A histogram. Durations are recorded in nanoseconds and exposed in seconds.
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
