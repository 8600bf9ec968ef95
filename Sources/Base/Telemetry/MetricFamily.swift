/// The description of one metric.
package struct MetricFamily: Hashable, Sendable {
  /// Prometheus's metric types.
  package enum Kind: String, Hashable, Sendable {
    /// Monotonic; the name ends in `_total`.
    case counter
    case gauge
    /// Cumulative counts of observations by upper bound, and their sum.
    case histogram
  }

  /// As Prometheus shows it, with its unit and the suffix `_total` of counters.
  package let name: String
  /// Decides how samples are added and shown.
  package let kind: Kind
  /// The label names.
  package let labels: [String]
  /// The help text, one line.
  package let help: String
  /// The finite upper bounds of a histogram's buckets (default: ``waitBounds``).
  package let bounds: [Double]

  /// Describes a metric.
  ///
  /// - Parameters:
  /// - name: As Prometheus's conventions require: base units, and `_total` for a counter.
  /// - labels: The label names. Each sample must have all of them, in this order.
  /// - bounds: The finite upper bounds of a histogram, ascending; empty selects ``waitBounds``.
  /// - help: One line of text.
  package init(
    _ name: String, _ kind: Kind, labels: [String] = [], bounds: [Double] = [], help: String
  ) {
    self.name = name
    self.kind = kind
    self.labels = labels
    self.help = help
    self.bounds = kind == .histogram && bounds.isEmpty ? Self.waitBounds : bounds
  }

  /// Bounds for calls that are answered locally, in seconds: from cached answers to timeouts.
  package static let callBounds = [
    0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025,
    0.05,
    0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// Bounds for network and disk operations, in seconds.
  package static let waitBounds = [
    0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  ]
  /// Bounds for delays of deliveries, in seconds, up to a week.
  package static let lagBounds: [Double] = [
    0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 604_800,
  ]
  /// Bounds for numbers of items.
  package static let countBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]
}

/// The value of a metric for one set of labels, at the time of a scrape.
package struct MetricSample: Sendable {
  /// The value of a sample at one scrape.
  package enum Value: Sendable {
    case number(Double)
    /// The number of observations in each bucket (not cumulative, the infinite bucket last), and their sum.
    case histogram(buckets: [UInt64], sum: Double)
  }

  /// The ``MetricFamily/name``.
  package let family: String
  /// In the order of ``MetricFamily/labels``.
  package let labels: [(name: String, value: String)]
  /// The value at the scrape.
  package let value: Value

  /// A sample of a counter or gauge.
  package init(_ family: String, labels: [(name: String, value: String)] = [], _ number: Double) {
    self.init(family, labels: labels, .number(number))
  }

  /// A sample of any kind; `family` is the ``MetricFamily/name``.
  package init(_ family: String, labels: [(name: String, value: String)] = [], _ value: Value) {
    self.family = family
    self.labels = labels
    self.value = value
  }
}

/// A provider of samples that are computed when the metrics are scraped.
package protocol MetricsSource: Sendable {
  /// Returns the current samples. Called on any thread; must not block.
  func samples() -> [MetricSample]
}

/// A source that calls a function.
package struct CallbackMetricsSource: MetricsSource {
  private let measure: @Sendable () -> [MetricSample]

  /// `measure` is called for each scrape, on any thread; it must not block.
  package init(_ measure: @escaping @Sendable () -> [MetricSample]) { self.measure = measure }

  package func samples() -> [MetricSample] { measure() }
}
