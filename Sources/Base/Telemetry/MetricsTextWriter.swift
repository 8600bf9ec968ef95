/// Writes samples in Prometheus's text format 0.0.4, or in OpenMetrics 1.0, which differs in the names of counters and
/// in the last line.
package struct MetricsTextWriter {
  /// The text formats that a scraper can ask for.
  package enum Format: Sendable {
    case prometheus
    case openMetrics

    /// The format that the `accept` header field selects.
    package init(accept: String?) {
      self = accept?.contains("application/openmetrics-text") == true ? .openMetrics : .prometheus
    }

    package var contentType: String {
      switch self {
      case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
      case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
      }
    }
  }

  private let format: Format
  private let names: Set<String>
  private var text = ""

  private init(_ format: Format, names: Set<String>) {
    self.format = format
    self.names = names
  }

  /// Returns the text of all samples, in the order of `families`; samples of other families follow.
  package static func write(_ samples: [MetricSample], of families: [MetricFamily], as format: Format)
    -> String
  {
    var writer = MetricsTextWriter(format, names: Set(families.map(\.name)))
    var groups = Dictionary(grouping: samples, by: \.family)
    for family in families { writer.write(family, groups.removeValue(forKey: family.name) ?? []) }
    for (name, samples) in groups.sorted(by: { $0.key < $1.key }) {
      writer.write(unknownFamily(name, samples), samples)
    }
    if format == .openMetrics { writer.text += "# EOF\n" }
    return writer.text
  }

  private static func unknownFamily(_ name: String, _ samples: [MetricSample]) -> MetricFamily {
    let isHistogram = samples.contains { if case .histogram = $0.value { true } else { false } }
    let kind: MetricFamily.Kind = isHistogram ? .histogram : name.hasSuffix("_total") ? .counter : .gauge
    return MetricFamily(name, kind, bounds: MetricFamily.waitBounds, help: "No description.")
  }

  private mutating func write(_ family: MetricFamily, _ samples: [MetricSample]) {
    var name = family.name
    var kind = family.kind.rawValue
    if format == .openMetrics, family.kind == .counter {
      let withoutEnding = String(name.dropLast("_total".utf8.count))
      // OpenMetrics forbids two families of the same name: if a gauge has the name, the type stays unknown.
      if names.contains(withoutEnding) { kind = "unknown" } else { name = withoutEnding }
    }
    text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(kind)\n"
    let sorted = samples.sorted { Self.labels($0.labels) < Self.labels($1.labels) }
    for sample in sorted { write(sample, family) }
  }

  private mutating func write(_ sample: MetricSample, _ family: MetricFamily) {
    switch sample.value {
    case .number(let number):
      text += "\(family.name)\(Self.labels(sample.labels)) \(Self.number(number))\n"
    case .histogram(let buckets, let sum):
      var count: UInt64 = 0
      for (index, inBucket) in buckets.enumerated() {
        count += inBucket
        let bound = index < family.bounds.count ? Self.number(family.bounds[index]) : "+Inf"
        let labels = Self.labels(sample.labels + [(name: "le", value: bound)])
        text += "\(family.name)_bucket\(labels) \(count)\n"
      }
      let labels = Self.labels(sample.labels)
      text += "\(family.name)_sum\(labels) \(Self.number(sum))\n\(family.name)_count\(labels) \(count)\n"
    }
  }

  private static func labels(_ labels: [(name: String, value: String)]) -> String {
    guard !labels.isEmpty else { return "" }
    return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
  }

  private static func escaped(_ value: String) -> String {
    var result = ""
    for character in value.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  private static func number(_ number: Double) -> String {
    if number == number.rounded(), number.magnitude < 1e15 { return String(Int64(number)) }
    return number.isFinite ? number.description : number.isNaN ? "NaN" : number < 0 ? "-Inf" : "+Inf"
  }
}
