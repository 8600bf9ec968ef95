package import Markup

/// A table of shares as SVG: a row for each cohort, a column for each age.
package struct HeatMap: Sendable {
  /// The share of a cohort at one age.
  package struct Cell: Sendable {
    /// From 0 to 1; decides the colour.
    package let share: Double
    /// Its text, such as `67 %`, and below it the number that the share is of.
    package let text: String
    /// The number of members that the share is of.
    package let number: String
    /// Whether its members have not all had time for it.
    package let isOpen: Bool
    /// The page with the purchases behind the cell; `nil` without one.
    package let link: Link?

    package init(share: Double, text: String, number: String, isOpen: Bool, link: Link?) {
      self.share = share
      self.text = text
      self.number = number
      self.isOpen = isOpen
      self.link = link
    }
  }

  /// One cohort.
  package struct Row: Sendable {
    /// The label of the cohort, such as a month.
    package let name: String
    /// By column; `nil`: not yet.
    package let cells: [Cell?]

    package init(_ name: String, _ cells: [Cell?]) {
      self.name = name
      self.cells = cells
    }
  }

  private static let rowHeight = 34.0
  private static let top = 26.0

  /// The name of the table for screen readers.
  package let title: String
  /// The labels of the ages.
  package let columns: [String]
  /// From the earliest cohort to the latest.
  package let rows: [Row]

  package init(_ title: String, columns: [String], rows: [Row]) {
    self.title = title
    self.columns = columns
    self.rows = rows
  }

  /// The map, with a tooltip for each cell.
  package var svg: Markup {
    let (left, right) = (84.0, BucketChart.right)
    let width = min(72, (right - left) / Double(max(1, columns.count)))
    let heads = columns.enumerated().map { index, name in
      "<text class=\"axis middle\" x=\"\(left + (Double(index) + 0.5) * width)\" y=\"16\">\(name)</text>\n"
        as Markup
    }
    let body = rows.enumerated().map { index, row in
      let y = Self.top + Double(index) * Self.rowHeight
      let cells = row.cells.enumerated().map { column, cell in
        cell.map { self.cell($0, row, column, left + Double(column) * width, y, width) } ?? ""
      }
      return "<text x=\"12\" y=\"\(y + 20)\">\(row.name)</text>\n\(cells)" as Markup
    }
    return """
      <svg viewBox="0 0 \(BucketChart.width) \(Self.top + Double(rows.count) * Self.rowHeight + 8)" role="group" \
      aria-label="\(title)">
      <defs><pattern id="open" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(30)">\
      <path class="hatch" d="M0 0V7"/></pattern></defs>
      \(heads)\(body)
      </svg>
      """
  }

  private func cell(
    _ cell: Cell, _ row: Row, _ column: Int, _ x: Double, _ y: Double, _ width: Double
  ) -> Markup {
    let shape: Markup =
      "x=\"\(x + 1)\" y=\"\(y)\" width=\"\(width - 2)\" height=\"\(Self.rowHeight - 2)\" rx=\"3\""
    // In steps of a tenth, so that the text keeps its contrast in each of them.
    let heat = Int((min(max(cell.share, 0), 1) * 10).rounded())
    let hatch: Markup = cell.isOpen ? "<rect class=\"still\" \(shape) fill=\"url(#open)\"/>" : ""
    let words: Markup = "\(row.name), \(columns[column]): \(cell.text), \(cell.number)"
    let middle = x + width / 2
    let body: Markup = """
      <rect class="heat h\(heat)" \(shape)/>\(hatch)<text class="middle" x="\(middle)" y="\(y + 14)">\(cell.text)</text>\
      <text class="axis middle" x="\(middle)" y="\(y + 27)">\(cell.number)</text><title>\(words)</title>
      """
    return cell.link.map {
      "<a href=\"\($0)\" tabindex=\"-1\" aria-label=\"\(words)\">\(body)</a>\n"
    } ?? "<g>\(body)</g>\n"
  }
}
