import Markup
import Testing

@testable import Pages

@Suite struct ChartTests {
  @Test(
    "An axis has round numbers, 0 among them, and holds both ends",
    arguments: [
      (0, 0), (0, 1), (0, 7.3), (-3, 12), (-1_000, 10), (0, 1e9), (0, 0.04), (-5, -1), (0, 100),
    ] as [(Double, Double)])
  func scale(low: Double, high: Double) {
    let scale = ChartScale(low: low, high: high)
    #expect(scale.lowest <= min(low, 0) && scale.highest >= max(high, 0))
    #expect(scale.ticks.contains { abs($0) < 1e-12 })
    #expect((2...9).contains(scale.ticks.count))
  }

  @Test(
    "A number of an axis is short",
    arguments: [
      (0, "0"), (0.25, "0.25"), (0.5, "0.5"), (20, "20"), (1_500, "1.5 k"), (-2_000_000, "-2 M"),
      (3e9, "3 G"),
    ] as [(Double, String)])
  func text(number: Double, text: String) {
    #expect(ChartScale.text(number) == text)
  }

  private func series(_ values: [Double?]) -> ChartSeries {
    ChartSeries(
      "new <&", .full,
      values.map { ChartSeries.Point($0, "\($0 ?? 0)", link: Link(["a"], query: [("b", "1")])) })
  }

  private func chart(_ values: [Double?], isOpen: [Bool], shape: ChartPanel.Shape = .columns) -> String {
    let buckets = isOpen.enumerated().map { BucketChart.Bucket("2027-0\($0 + 1)", isOpen: $1) }
    let panels = [
      ChartPanel("Movements", shape: shape, stacked: [series(values)]),
      ChartPanel("MRR", lines: [series(values)]),
    ]
    return BucketChart("Title \"<", buckets: buckets, panels: panels).svg.description
  }

  @Test("A line leads to no bucket that is not closed, and over none without a number")
  func lines() {
    let svg = chart([1, 2, 3, 4, 5], isOpen: [false, false, false, false, true])
    let line = svg.matches(of: /<polyline[^>]*points="([^"]*)"/).map(\.output.1)
    #expect(line.map { $0.split(separator: " ").count } == [4])
    #expect(svg.matches(of: /class="point hollow/).count == 1)
    let gap = chart([1, 2, nil, 4, 5], isOpen: Array(repeating: false, count: 5))
    #expect(
      gap.matches(of: /<polyline[^>]*points="([^"]*)"/).map { $0.output.1.split(separator: " ").count } == [
        2, 2,
      ])
  }

  @Test("An open bucket is hatched in each panel")
  func open() {
    let svg = chart([1, 2], isOpen: [false, true])
    #expect(svg.matches(of: /class="still"/).count == 2)
  }

  @Test(
    "Each point with a number has its link, its words and no markup of its text", arguments: [false, true])
  func points(isArea: Bool) {
    let svg = chart([1, -2, 3], isOpen: [false, false, false], shape: isArea ? .areas : .columns)
    let links = svg.split(separator: "<a href=\"/a?b=1\" tabindex=\"-1\" aria-label=\"2027-0").dropFirst()
    #expect(links.count == 6 && links.allSatisfy { $0.dropFirst().hasPrefix(": new &lt;&amp; ") })
    #expect(!svg.contains("new <"))
    #expect(!svg.contains("style="))
  }

  @Test("Columns above and below the axis begin at 0")
  func columns() throws {
    let svg = chart([4, -4], isOpen: [false, false])
    let bars = svg.matches(
      of: /<rect class="bar full" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/)
    let edges = try bars.map { match in
      let top = try #require(Double(match.output.1))
      return (top, top + (try #require(Double(match.output.2))))
    }
    #expect(edges.count == 2 && abs(edges[0].1 - edges[1].0) < 0.11)
  }

  @Test("A chart without buckets is still a picture")
  func empty() {
    #expect(
      BucketChart("Empty", buckets: [], panels: [ChartPanel("None")]).svg.description.contains("</svg>"))
    #expect(HeatMap("Empty", columns: [], rows: []).svg.description.contains("</svg>"))
    #expect(BarChart("Empty", names: [], measures: []).svg.description.contains("</svg>"))
  }
}
