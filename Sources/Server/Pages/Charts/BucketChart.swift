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
      body += ChartPanelPicture(panel: panel, buckets: buckets, top: y).svg
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
