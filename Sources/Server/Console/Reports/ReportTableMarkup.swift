internal import Markup
internal import Pages
internal import Reports
internal import Wire

/// The rows of a report as a table: the columns with a value, with a link to what is behind each one.
enum ReportTableMarkup {
  static func markup(_ data: ReportData) -> Markup {
    let rows = data.rows
    let shown = data.response.columns.indices.filter { index in rows.contains { $0.values[index] != 0 } }
    let revised = Dictionary(
      data.response.revisions.compactMap { revision in
        revision.day.map { (data.filter.granularity.firstDay(of: $0.day), Int64(1)) }
      }, uniquingKeysWith: +)
    let hasAges = rows.contains { $0.age != 0 }
    let heads =
      [data.groupBy.isEmpty ? Text.bucket : Text.storefront] + (hasAges ? [Text.age] : []) + [Text.state]
      + shown.map { head(data.response.columns[$0]) }
    let cells = rows.map { row -> [Markup] in
      let bucket = row.bucket?.day
      let name = data.groupBy.isEmpty ? bucket.map(data.filter.name) ?? "" : row.groups.first ?? ""
      let numbers = shown.map { cell(data.response.columns[$0], row.values[$0], row, data) }
      return ["\(name)"] + (hasAges ? ["\(row.age)"] : []) + [state(row, bucket.flatMap { revised[$0] })]
        + numbers
    }
    return Table.markup(Text.numbers, heads: heads, rows: cells)
  }

  private static func head(_ column: Wire.ReportColumn) -> String {
    column.unit == .moneyPerYear ? Text.aMonth(Format.words(column.name)) : Format.words(column.name)
  }

  private static func state(_ row: ReportRow, _ revisions: Int64?) -> Markup {
    if row.incomplete { return Part.chip(Text.openBucket, .grace) }
    return revisions.map { Part.chip(Text.revised($0), .grant) } ?? "\(Text.closed)"
  }

  static func cell(
    _ column: Wire.ReportColumn, _ value: Int64, _ row: ReportRow, _ data: ReportData
  ) -> Markup {
    let text = data.text(value, column.unit)
    return data.link(column.name, row).map { "<a href=\"\($0)\">\(text)</a>" } ?? "\(text)"
  }
}
