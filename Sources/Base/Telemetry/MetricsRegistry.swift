package import CoreMetrics
internal import Synchronization

/// The backend of swift-metrics: keeps what the program counts, and tells it to whoever scrapes.
///
/// swift-prometheus would be the usual one; it has no place for counters that belong to event loops
/// (``CallMeter``), and is not to be had everywhere this program is built.
package final class MetricsRegistry: Sendable {
  private struct Series {
    let labels: [(name: String, value: String)]
    let instrument: any Instrument
  }

  private struct Key: Hashable {
    let name: String
    let labels: [String]
  }

  /// What is known of the families; the scrape lists them in this order.
  package let families: [MetricFamily]
  private let bounds: [String: [Double]]
  private let series = Mutex<[Key: Series]>([:])
  private let sources = Mutex<[any MetricsSource]>([])

  /// A registry that knows `families`. Others are told too, without a line of help.
  package init(families: [MetricFamily]) {
    self.families = families
    bounds = Dictionary(families.map { ($0.name, $0.bounds) }, uniquingKeysWith: { first, _ in first })
  }

  /// From now on asks `source` too.
  package func add(_ source: any MetricsSource) { sources.withLock { $0.append(source) } }

  /// All that there is to say now.
  package func samples() -> [MetricSample] {
    let known = series.withLock { series in
      series.map { (name: $0.key.name, labels: $0.value.labels, instrument: $0.value.instrument) }
    }
    let asked = sources.withLock { $0 }
    return known.map { MetricSample($0.name, labels: $0.labels, $0.instrument.value) }
      + asked.flatMap { $0.samples() }
  }

  private func instrument<Made: Instrument>(
    _ name: String, _ dimensions: [(String, String)], _ make: ([Double]) -> Made
  ) -> Made {
    let key = Key(name: name, labels: dimensions.flatMap { [$0.0, $0.1] })
    return series.withLock { series in
      if let known = series[key]?.instrument as? Made { return known }
      let made = make(bounds[name].flatMap { $0.isEmpty ? nil : $0 } ?? MetricFamily.waitBounds)
      series[key] = Series(labels: dimensions.map { (name: $0.0, value: $0.1) }, instrument: made)
      return made
    }
  }
}

extension MetricsRegistry: MetricsFactory {
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    instrument(label, dimensions) { _ in CounterCell() }
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    instrument(label, dimensions) { _ in GaugeCell() }
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? instrument(label, dimensions) { HistogramCell(bounds: $0) }
      : instrument(label, dimensions) { _ in GaugeCell() }
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    instrument(label, dimensions) { HistogramCell(bounds: $0) }
  }

  // What was counted stays: a counter that goes down looks like a process that started again.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
}
