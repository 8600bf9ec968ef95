internal import Markup

/// One panel of a ``BucketChart`` as SVG: its axis, and the columns, areas and lines over the buckets.
struct ChartPanelPicture {
  let panel: ChartPanel
  let buckets: [BucketChart.Bucket]
  let top: Double
  private let scale: ChartScale

  init(panel: ChartPanel, buckets: [BucketChart.Bucket], top: Double) {
    self.panel = panel
    self.buckets = buckets
    self.top = top
    var (low, high) = (0.0, panel.limit ?? 0)
    for index in buckets.indices {
      let stacked = panel.stacked.compactMap { $0.points[index].value }
      let lines = panel.lines.compactMap { $0.points[index].value }
      low = min(low, stacked.filter { $0 < 0 }.reduce(0, +), lines.min() ?? 0)
      if panel.limit == nil { high = max(high, stacked.filter { $0 > 0 }.reduce(0, +), lines.max() ?? 0) }
    }
    scale = ChartScale(low: low, high: high)
  }

  private var bottom: Double { top + panel.height }
  private var band: Double { BucketChart.band(buckets.count) }

  private func y(_ value: Double) -> Double {
    let inside = min(max(value, scale.lowest), scale.highest)
    return bottom - (inside - scale.lowest) / (scale.highest - scale.lowest) * panel.height
  }

  private func x(_ index: Int) -> Double { BucketChart.middle(index, buckets.count) }

  var svg: Markup {
    let areas: [Markup] = panel.shape == .areas ? self.areas : []
    return """
      <g><text class="kind" x="12" y="\(top - 14)">\(panel.title)</text>
      \(axis)\(areas)\(columns)\(open)\(panel.lines.map(line))</g>

      """
  }

  private var axis: [Markup] {
    scale.ticks.map { tick in
      let at = y(tick)
      return """
        <path class="tick" d="M\(BucketChart.left) \(at)H\(BucketChart.right)"/>\
        <text class="axis end" x="\(BucketChart.left - 6)" y="\(at + 4)">\(ChartScale.text(tick))\(panel.unit)</text>

        """
    }
  }

  /// The hatched ground of the buckets that are not over or not closed.
  private var open: [Markup] {
    buckets.indices.filter { buckets[$0].isOpen }.map { index in
      "<rect class=\"still\" x=\"\(x(index) - band / 2)\" y=\"\(top)\" width=\"\(band)\" height=\"\(panel.height)\" fill=\"url(#open)\"/>\n"
    }
  }

  /// The edges of the parts of a stack: of each series the numbers from which and to which it reaches.
  private func parts(_ index: Int) -> [(series: ChartSeries, from: Double, to: Double)] {
    var (up, down) = (0.0, 0.0)
    return panel.stacked.map { series in
      let value = series.points[index].value ?? 0
      if value < 0 {
        defer { down += value }
        return (series, down, down + value)
      }
      defer { up += value }
      return (series, up, up + value)
    }
  }

  private var columns: [Markup] {
    let isArea = panel.shape == .areas
    let width = isArea ? band : max(1, min(band * 0.72, 44))
    return buckets.indices.map { index in
      parts(index).filter { $0.from != $0.to }.map { part in
        let (upper, lower) = (y(max(part.from, part.to)), y(min(part.from, part.to)))
        let look: Markup =
          isArea && !buckets[index].isOpen ? "hit" : "bar \(part.series.look.rawValue)"
        let shape: Markup =
          "<rect class=\"\(look)\" x=\"\(x(index) - width / 2)\" y=\"\(upper)\" width=\"\(width)\" height=\"\(max(0.5, lower - upper))\"/>"
        return linked(shape, part.series, index)
      }.joined()
    }
  }

  /// The areas between the middles of closed buckets.
  private var areas: [Markup] {
    panel.stacked.indices.flatMap { series -> [Markup] in
      runs { _ in true }.map { run in
        let edges = run.map { index in (x: x(index), part: parts(index)[series]) }
        let upper = edges.map { "\(Self.coordinate($0.x)),\(Self.coordinate(y($0.part.to)))" }
        let lower = edges.reversed().map { "\(Self.coordinate($0.x)),\(Self.coordinate(y($0.part.from)))" }
        return
          "<polygon class=\"bar \(panel.stacked[series].look.rawValue)\" points=\"\((upper + lower).joined(separator: " "))\"/>\n"
      }
    }
  }

  private func line(_ series: ChartSeries) -> Markup {
    let look = series.look.rawValue
    let dashes: Markup = series.isEstimated ? " stroke-dasharray=\"5 4\"" : ""
    let paths = runs { series.points[$0].value != nil && !series.points[$0].isOpen }.map { run in
      let points = run.map { "\(Self.coordinate(x($0))),\(Self.coordinate(y(series.points[$0].value ?? 0)))" }
      return
        "<polyline class=\"curve \(look)\"\(dashes) points=\"\(points.joined(separator: " "))\"/>\n" as Markup
    }
    let dots = buckets.indices.compactMap { index -> Markup? in
      guard let value = series.points[index].value else { return nil }
      let kind: Markup = buckets[index].isOpen || series.points[index].isOpen ? "point hollow" : "point"
      return linked(
        "<circle class=\"\(kind) \(look)\" cx=\"\(x(index))\" cy=\"\(y(value))\" r=\"\(buckets.count > 60 ? 2.5 : 4)\"/>",
        series, index)
    }
    return "\(paths)\(dots)"
  }

  /// The longest runs of closed buckets that match.
  private func runs(_ matches: (Int) -> Bool) -> [[Int]] {
    var runs: [[Int]] = [[]]
    for index in buckets.indices {
      if !buckets[index].isOpen, matches(index) {
        runs[runs.count - 1].append(index)
      } else if runs.last?.isEmpty == false {
        runs.append([])
      }
    }
    return runs.filter { !$0.isEmpty }
  }

  /// A shape with the words of its point, and the link to what is behind it.
  private func linked(_ shape: Markup, _ series: ChartSeries, _ index: Int) -> Markup {
    let point = series.points[index]
    let words: Markup = "\(buckets[index].name): \(series.name) \(point.text)"
    guard let link = point.link else { return "<g>\(shape)<title>\(words)</title></g>\n" }
    return
      "<a href=\"\(link)\" tabindex=\"-1\" aria-label=\"\(words)\">\(shape)<title>\(words)</title></a>\n"
  }

  /// At most one decimal.
  private static func coordinate(_ number: Double) -> String { ("\(number)" as Markup).description }
}
