package import AppStore
package import Markup

/// The picture of what a customer had, and when: SVG with a legend, and the same as a table.
package struct LanesPicture: Sendable {
  /// The rows from top to bottom.
  package let lanes: [Lane]
  /// The time span of all rows.
  package let geometry: LanesGeometry
  /// The point in time that the page is about; `nil`: now.
  package let asOf: Instant?
  /// The name of the picture for screen readers.
  package let title: String

  /// Precedes the ids of elements, which are unique in a page.
  private let name: String

  /// Creates a picture. `id` must be another one for each picture of a page.
  package init(
    lanes: [Lane], geometry: LanesGeometry, asOf: Instant?, title: String, id: StaticString = "lanes"
  ) {
    self.lanes = lanes
    self.geometry = geometry
    self.asOf = asOf
    self.title = title
    name = "\(id)"
  }

  private var height: Double { LanesGeometry.top + Double(lanes.count) * LanesGeometry.rowHeight + 6 }

  /// The tones of the bars, for the legend.
  private var tones: [Tone] {
    Tone.allCases.filter { tone in lanes.contains { $0.bars.contains { $0.tone == tone } } }
  }

  /// The meanings of the colours and signs in this picture.
  package var legend: Markup {
    let items = tones.map { tone in
      "<li>\(Part.chip(Text.name(of: tone), tone)) \(Text.meaning(of: tone))</li>\n" as Markup
    }
    let used = Set(lanes.flatMap { $0.marks.map(\.sign) + ($0.dots.isEmpty ? [] : [Text.dotSign]) })
    let signs = Text.signs.filter { used.contains($0.sign) }.map { sign, meaning in
      "<li>\(sign) \(meaning)</li>\n" as Markup
    }
    return "<ul class=\"legend\" aria-label=\"\(Text.legend)\">\n\(items)\(signs)</ul>"
  }

  /// The picture, with a tooltip for each bar and mark.
  package var svg: Markup {
    """
    <svg viewBox="0 0 \(LanesGeometry.width) \(height)" role="img" aria-labelledby="\(name)-title">
    <title id="\(name)-title">\(title)</title>
    <defs>\(hatches)</defs>
    \(axis)
    \(lanes.enumerated().map { index, lane in row(lane, index) })\
    \(cursor)
    </svg>
    """
  }

  private var hatches: [Markup] {
    [Tone.grace, .retry].map { tone in
      """
      <pattern id="\(name)-\(tone.rawValue)" width="7" height="7" patternUnits="userSpaceOnUse" \
      patternTransform="rotate(30)"><path class="hatch \(tone.rawValue)" d="M0 0V7"/></pattern>
      """
    }
  }

  private var axis: Markup {
    let bottom = height - 6
    let ticks = geometry.ticks.map { at, label in
      let x = geometry.x(at)
      return """
        <path class="tick" d="M\(x) 22V\(bottom)"/><text class="axis" x="\(x)" y="15">\(label)</text>

        """ as Markup
    }
    let now = geometry.x(geometry.now)
    return """
      \(ticks)<path class="now" d="M\(now) 22V\(bottom)"/><text class="axis" x="\(now + 3)" y="27">\(Text.now)</text>
      """
  }

  /// The line at the point in time of the page; the script moves it.
  private var cursor: Markup {
    let x = geometry.x(asOf ?? geometry.now)
    let visibility: Markup = asOf == nil ? " visibility=\"hidden\"" : ""
    return "<line class=\"cursor\" x1=\"\(x)\" x2=\"\(x)\" y1=\"22\" y2=\"\(height - 6)\"\(visibility)/>"
  }

  private func row(_ lane: Lane, _ index: Int) -> Markup {
    let y = LanesGeometry.top + Double(index) * LanesGeometry.rowHeight
    let middle = y + LanesGeometry.barHeight / 2
    let signs = LanesGeometry.spread(lane.marks.map { geometry.x($0.at) })
    return """
      <g><text x="12" y="\(y + 9)">\(lane.name.shortened(to: 18))</text>\
      <text class="kind" x="12" y="\(y + 22)">\(lane.kind.shortened(to: 20))</text>
      \(lane.bars.map { bar($0, y, signs) })\(dots(lane, middle))\(marks(lane, signs, middle))</g>

      """
  }

  /// Draws a bar with its word, if it has room beside `signs`, the places of the lane's marks.
  private func bar(_ bar: Lane.Bar, _ y: Double, _ signs: [Double]) -> Markup {
    let x = geometry.x(bar.start)
    let end =
      bar.isBrief ? min(bar.end.map(geometry.x) ?? x + 22, x + 22) : geometry.x(bar.end ?? geometry.end)
    guard bar.start < geometry.end, end > LanesGeometry.left else { return "" }
    let width = max(3, end - x)
    let tone = bar.tone.rawValue
    let shape: Markup =
      "x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(LanesGeometry.barHeight)\" rx=\"3\""
    let hatch: Markup =
      [.grace, .retry].contains(bar.tone) ? "<rect \(shape) fill=\"url(#\(name)-\(tone))\"/>" : ""
    // A sign at the edge between two bars covers the beginning of the second one.
    let radius = LanesGeometry.markDistance / 2
    let left = (signs.filter { abs($0 - x) < radius }.max().map { $0 + radius } ?? x) + 5
    let right = left + Double(bar.word.count) * 7.2
    let hasRoom = right + 5 < x + width && !signs.contains { $0 + radius > left && $0 - radius < right }
    let halo: Markup = hatch.isEmpty ? "" : " halo"
    let word: Markup =
      hasRoom ? "<text class=\"\(tone)\(halo)\" x=\"\(left)\" y=\"\(y + 14)\">\(bar.word)</text>" : ""
    return
      "<g><title>\(Self.description(bar))</title><rect class=\"bar \(tone)\" \(shape)/>\(hatch)\(word)</g>\n"
  }

  private func dots(_ lane: Lane, _ y: Double) -> [Markup] {
    lane.dots.map { dot in
      "<circle class=\"dot\" cx=\"\(geometry.x(dot.at))\" cy=\"\(y)\" r=\"4\"><title>\(Self.description(dot))</title></circle>\n"
    }
  }

  private func marks(_ lane: Lane, _ places: [Double], _ y: Double) -> [Markup] {
    zip(lane.marks, places).map { mark, x in
      """
      <g><title>\(Self.description(mark))</title><circle class="mark \(mark.tone.rawValue)" cx="\(x)" cy="\(y)" r="8.5"/>\
      <text class="sign \(mark.tone.rawValue)" x="\(x)" y="\(y + 4)">\(mark.sign)</text></g>

      """
    }
  }

  private static func description(_ bar: Lane.Bar) -> String {
    Text.span(bar.meaning, Format.minute(bar.start), bar.end.map(Format.minute))
  }

  private static func description(_ mark: Lane.Mark) -> String {
    "\(mark.meaning) (\(Format.minuteUTC(mark.at)))"
  }

  /// The same as text: each bar and each mark is a row. `reference` draws the link to what a bar or a mark is from, by its
  /// ``Lane/Bar/source``.
  package func table(_ head: String, reference: (Int64) -> Markup) -> Markup {
    var rows: [[Markup]] = []
    for lane in lanes {
      let subject: Markup = "\(Format.name(lane.name)) <span class=\"quiet\">\(lane.kind)</span>"
      rows += lane.bars.map { bar in
        [subject, "\(bar.meaning)", Format.time(bar.start), Format.time(bar.end), reference(bar.source)]
          as [Markup]
      }
      rows += (lane.marks + lane.dots).map { mark in
        [subject, "\(mark.meaning)", Format.time(mark.at), "", reference(mark.source)] as [Markup]
      }
    }
    return Table.markup(
      Text.lanesTable, heads: [Text.lane, Text.what, Text.from, Text.to, head], rows: rows)
  }
}

extension String {
  /// At most `limit` characters, with an ellipsis instead of the rest.
  package func shortened(to limit: Int) -> String { count > limit ? prefix(limit - 1) + "…" : self }
}
