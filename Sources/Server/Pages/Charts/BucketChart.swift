package import Markup

/// A chart over buckets, such as months: panels one below the other over one axis. SVG, which needs no script.
///
/// The points are links for a mouse; a table below the chart has the same ones for the keyboard.
package struct BucketChart: Sendable {
  /// A position on the axis of time.
  package struct Bucket: Sendable {
    /// The label, such as `2026-11`.
    package let name: String
    /// Whether it is not over or not closed: it is hatched, and no line leads to it.
    package let isOpen: Bool
    /// Whether evidence changed it after it had closed.
    package let isRevised: Bool
    /// An event of the operator's on it, such as a release.
    package let note: String?

    /// `name` must be short: about 70 units of the SVG have room for it.
    package init(_ name: String, isOpen: Bool, isRevised: Bool = false, note: String? = nil) {
      self.name = name
      self.isOpen = isOpen
      self.isRevised = isRevised
      self.note = note
    }
  }

  /// In units of the SVG, as all numbers of charts.
  static let width = 1_060.0
  static let left = 64.0
  static let right = 1_020.0
  private static let gap = 44.0
  private static let top = 34.0
  private static let axisHeight = 22.0

  /// The name of the chart for screen readers.
  package let title: String
  /// From the earliest to the latest.
  package let buckets: [Bucket]
  /// From top to bottom.
  package let panels: [ChartPanel]

  /// Each series of each panel must have one point for each bucket.
  package init(_ title: String, buckets: [Bucket], panels: [ChartPanel]) {
    self.title = title
    self.buckets = buckets
    self.panels = panels
  }

  private var height: Double {
    Self.top + panels.reduce(0) { $0 + $1.height + Self.gap } + Self.axisHeight
  }

  /// The series by name, and what the marks mean.
  package var legend: Markup {
    let items = panels.flatMap { panel in
      panel.stacked.map { item($0, isLine: false) } + panel.lines.map { item($0, isLine: true) }
    }
    let open: Markup = buckets.contains(where: \.isOpen) ? "<li>▨ \(Text.openBuckets)</li>\n" : ""
    let revised: Markup = buckets.contains(where: \.isRevised) ? "<li>◆ \(Text.revisedBuckets)</li>\n" : ""
    return "<ul class=\"legend\" aria-label=\"\(Text.legend)\">\n\(items)\(open)\(revised)</ul>"
  }

  private func item(_ series: ChartSeries, isLine: Bool) -> Markup {
    let estimated = series.isEstimated ? " (\(Text.estimated))" : ""
    return
      "<li><span class=\"key \(series.look.rawValue)\(isLine ? " line" : "")\"></span> \(series.name)\(estimated)</li>\n"
  }

  /// The chart. Each series must have a point for each bucket.
  package var svg: Markup {
    var body = Markup()
    var y = Self.top
    for panel in panels {
      body += PanelPicture(panel: panel, buckets: buckets, top: y).svg
      y += panel.height + Self.gap
    }
    return """
      <svg viewBox="0 0 \(Self.width) \(height)" role="group" aria-label="\(title)">
      <defs><pattern id="open" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(30)">\
      <path class="hatch" d="M0 0V7"/></pattern></defs>
      \(body)\(names(y - Self.gap + 16))\(notes(y - Self.gap))
      </svg>
      """
  }

  /// The names of the buckets: as many as have room.
  private func names(_ y: Double) -> [Markup] {
    let room = max(1, Int((70 / Self.band(buckets.count)).rounded(.up)))
    return buckets.enumerated().compactMap { index, bucket in
      let x = Self.middle(index, buckets.count)
      let mark: Markup =
        bucket.isRevised
        ? "<text class=\"axis middle\" x=\"\(x)\" y=\"\(y - 10)\">◆<title>\(bucket.name): \(Text.revisedBuckets)</title></text>\n"
        : ""
      guard index % room == 0 else { return mark.isEmpty ? nil : mark }
      return "\(mark)<text class=\"axis middle\" x=\"\(x)\" y=\"\(y + 4)\">\(bucket.name)</text>\n"
    }
  }

  /// The operator's events, each as a line at the start of its bucket.
  private func notes(_ bottom: Double) -> [Markup] {
    buckets.enumerated().compactMap { index, bucket in
      bucket.note.map { note in
        let x = Self.left + Double(index) * Self.band(buckets.count)
        return
          "<path class=\"now\" d=\"M\(x) \(Self.top - 6)V\(bottom)\"/><text class=\"axis\" x=\"\(x + 4)\" y=\"12\">\(note)</text>\n"
      }
    }
  }

  /// The width of one of `count` buckets.
  static func band(_ count: Int) -> Double { (right - left) / Double(max(1, count)) }
  /// The middle of the bucket `index` of `count` on the axis of time.
  static func middle(_ index: Int, _ count: Int) -> Double { left + (Double(index) + 0.5) * band(count) }
}

/// One panel as SVG.
private struct PanelPicture {
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
