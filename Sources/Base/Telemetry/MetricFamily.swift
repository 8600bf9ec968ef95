/// What one name in a scrape means.
package struct MetricFamily: Hashable, Sendable {
  /// How its numbers are to be read (Prometheus's metric types).
  package enum Kind: String, Hashable, Sendable {
    /// Only goes up, until the process ends; its name ends in `_total`.
    case counter
    /// Goes up and down.
    case gauge
    /// How many observations there were up to each of some bounds, and their sum.
    case histogram
  }

  package let name: String
  package let kind: Kind
  /// The names of its labels.
  package let labels: [String]
  /// One line for people.
  package let help: String
  /// The bounds of a histogram's buckets, the last and infinite one left out; ``waitBounds`` if none are given.
  package let bounds: [Double]

  /// A family by its parts.
  package init(
    _ name: String, _ kind: Kind, labels: [String] = [], bounds: [Double] = [], help: String
  ) {
    self.name = name
    self.kind = kind
    self.labels = labels
    self.help = help
    self.bounds = kind == .histogram && bounds.isEmpty ? Self.waitBounds : bounds
  }

  /// Bounds for calls that a computer answers by itself, in seconds: from what an answer takes that is remembered
  /// to what nobody waits for.
  package static let callBounds = [
    0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025,
    0.05,
    0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// Bounds for what goes over a network or a disk, in seconds.
  package static let waitBounds = [
    0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  ]
  /// Bounds for how late something comes, in seconds: up to a week.
  package static let lagBounds: [Double] = [
    0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 604_800,
  ]
  /// Bounds for how many there are of something.
  package static let countBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]
}
