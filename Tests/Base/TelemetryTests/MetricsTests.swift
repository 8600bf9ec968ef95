import CoreMetrics
import Telemetry
import Testing

@Suite struct MetricsTests {
  private static let families = [
    MetricFamily("calls_total", .counter, labels: ["method", "code"], help: "Calls."),
    MetricFamily("waiting", .gauge, help: "What waits."),
    MetricFamily("took_seconds", .histogram, bounds: [0.1, 1], help: "How long."),
  ]

  private func scrape(_ registry: MetricsRegistry, _ format: MetricsTextWriter.Format = .prometheus) -> String
  {
    MetricsTextWriter.write(registry.samples(), of: registry.families, as: format)
  }

  @Test("A scrape lists metrics in the order of the families")
  func text() {
    let registry = MetricsRegistry(families: Self.families)
    registry.makeRecorder(label: "waiting", dimensions: [], aggregate: false).record(2.5)
    let timer = registry.makeTimer(label: "took_seconds", dimensions: [])
    for nanoseconds: Int64 in [50_000_000, 100_000_000, 500_000_000, 7_000_000_000] {
      timer.recordNanoseconds(nanoseconds)
    }
    let dimensions = [("method", "/a/\"B\"\\\n"), ("code", "OK")]
    for _ in 0..<3 { registry.makeCounter(label: "calls_total", dimensions: dimensions).increment(by: 2) }
    #expect(
      scrape(registry) == """
        # HELP calls_total Calls.
        # TYPE calls_total counter
        calls_total{method="/a/\\"B\\"\\\\\\n",code="OK"} 6
        # HELP waiting What waits.
        # TYPE waiting gauge
        waiting 2.5
        # HELP took_seconds How long.
        # TYPE took_seconds histogram
        took_seconds_bucket{le="0.1"} 2
        took_seconds_bucket{le="1"} 3
        took_seconds_bucket{le="+Inf"} 4
        took_seconds_sum 7.65
        took_seconds_count 4

        """)
  }

  @Test("OpenMetrics types counters without _total and ends with EOF")
  func openMetrics() {
    let registry = MetricsRegistry(families: Self.families)
    let text = scrape(
      registry, MetricsTextWriter.Format(accept: "application/openmetrics-text; version=1.0.0"))
    #expect(text.hasPrefix("# HELP calls Calls.\n# TYPE calls counter\n"))
    #expect(text.hasSuffix("# EOF\n"))
  }

  @Test("A metric without a description is written after the others")
  func unknownMetric() {
    let registry = MetricsRegistry(families: Self.families)
    registry.makeCounter(label: "surprises_total", dimensions: []).increment(by: 1)
    #expect(
      scrape(registry).hasSuffix(
        "# HELP surprises_total No description.\n# TYPE surprises_total counter\nsurprises_total 1\n"))
  }

  @Test("A scrape adds up the shards by method and code")
  func callMeter() throws {
    let meter = CallMeter(methods: ["/a/A", "/a/B"], codeNames: (0...16).map { "CODE\($0)" })
    let (first, second) = (meter.makeShard(), meter.makeShard())
    first.count(0, code: 0, nanoseconds: 2_000)
    second.count(0, code: 0, nanoseconds: 30_000_000_000)
    meter.shared.count(0, code: 5, nanoseconds: 1_000_000)
    let registry = MetricsRegistry(families: MetricCatalog.families)
    registry.add(meter)
    let lines = Set(scrape(registry).split(separator: "\n").map(String.init))
    #expect(lines.contains("entitled_grpc_calls_total{method=\"/a/A\",code=\"CODE0\"} 2"))
    #expect(lines.contains("entitled_grpc_calls_total{method=\"/a/A\",code=\"CODE5\"} 1"))
    #expect(lines.contains("entitled_grpc_call_seconds_bucket{method=\"/a/A\",le=\"5e-06\"} 1"))
    #expect(lines.contains("entitled_grpc_call_seconds_bucket{method=\"/a/A\",le=\"0.001\"} 2"))
    #expect(lines.contains("entitled_grpc_call_seconds_bucket{method=\"/a/A\",le=\"10\"} 2"))
    #expect(lines.contains("entitled_grpc_call_seconds_count{method=\"/a/A\"} 3"))
    #expect(!lines.contains { $0.contains("/a/B") })
  }

  @Test("Catalog histograms have ascending bounds and counters end in _total")
  func catalog() {
    var names: Set<String> = []
    for family in MetricCatalog.families {
      #expect(names.insert(family.name).inserted, "\(family.name) is a duplicate")
      #expect(family.bounds == family.bounds.sorted())
      #expect((family.kind == .histogram) == !family.bounds.isEmpty)
      #expect((family.kind == .counter) == family.name.hasSuffix("_total"))
      #expect(!family.help.contains("\n") && family.help.hasSuffix("."))
    }
  }
}
