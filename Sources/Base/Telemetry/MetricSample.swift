/// What a family says at the moment of a scrape, for one set of labels.
package struct MetricSample: Sendable {
  package enum Value: Sendable {
    case number(Double)
    /// For each bucket how many observations fell into it alone, the infinite one last; and the sum of all.
    case histogram(buckets: [UInt64], sum: Double)
  }

  package let family: String
  package let labels: [(name: String, value: String)]
  package let value: Value

  /// A number.
  package init(_ family: String, labels: [(name: String, value: String)] = [], _ number: Double) {
    self.init(family, labels: labels, .number(number))
  }

  /// A value of any kind.
  package init(_ family: String, labels: [(name: String, value: String)] = [], _ value: Value) {
    self.family = family
    self.labels = labels
    self.value = value
  }
}
