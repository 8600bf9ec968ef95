/// Something that is asked for its numbers when somebody scrapes, and costs nothing else.
package protocol MetricsSource: Sendable {
  /// What there is to say now. Called on any thread; it must not wait.
  func samples() -> [MetricSample]
}

/// A source that is a function.
package struct CallbackMetricsSource: MetricsSource {
  private let measure: @Sendable () -> [MetricSample]

  /// A source that says what `measure` says.
  package init(_ measure: @escaping @Sendable () -> [MetricSample]) { self.measure = measure }

  package func samples() -> [MetricSample] { measure() }
}
