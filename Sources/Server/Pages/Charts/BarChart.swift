package import Markup

/// Bars to the right, one group of them for each measure, one row for each name. Each measure has its own scale from 0.
package struct BarChart: Sendable {
  private static let rowHeight = 26.0
  private static let top = 28.0

  /// The name of the chart for screen readers.
  package let title: String
  /// The labels of the rows.
  package let names: [String]
  /// Of each measure one point for each name.
  package let measures: [ChartSeries]

  /// Each measure must have one point for each name.
  package init(_ title: String, names: [String], measures: [ChartSeries]) {
    self.title = title
    self.names = names
    self.measures = measures
  }

  /// The chart, whose height follows from the number of rows.
  package var svg: Markup {
    let left = 84.0
    let width = (BucketChart.right - left) / Double(max(1, measures.count))
    let labels = names.enumerated().map { index, name in
      "<text x=\"12\" y=\"\(y(index) + 15)\">\(name)</text>\n" as Markup
    }
    let groups = measures.enumerated().map { index, measure in
      group(measure, left + Double(index) * width, width - 14)
    }
    return """
      <svg viewBox="0 0 \(BucketChart.width) \(y(names.count) + 8)" role="group" aria-label="\(title)">
      \(labels)\(groups)
      </svg>
      """
  }

  private func y(_ index: Int) -> Double { Self.top + Double(index) * Self.rowHeight }

  private func group(_ measure: ChartSeries, _ left: Double, _ width: Double) -> Markup {
    // The text of the longest bar has room beside it.
    let room = max(10, width - 96)
    let longest = measure.points.compactMap { $0.value.map(abs) }.max() ?? 0
    let bars = measure.points.enumerated().map { index, point -> Markup in
      let length = longest > 0 ? abs(point.value ?? 0) / longest * room : 0
      let shape: Markup =
        "<rect class=\"bar \(measure.look.rawValue)\" x=\"\(left)\" y=\"\(y(index))\" width=\"\(max(0.5, length))\" height=\"20\"/>"
      let words: Markup = "\(names[index]): \(measure.name) \(point.text)"
      let body: Markup =
        "\(shape)<text class=\"axis\" x=\"\(left + length + 5)\" y=\"\(y(index) + 14)\">\(point.text)</text><title>\(words)</title>"
      return point.link.map { "<a href=\"\($0)\" tabindex=\"-1\" aria-label=\"\(words)\">\(body)</a>\n" }
        ?? "<g>\(body)</g>\n"
    }
    return "<text class=\"kind\" x=\"\(left)\" y=\"16\">\(measure.name)</text>\n\(bars)"
  }
}
