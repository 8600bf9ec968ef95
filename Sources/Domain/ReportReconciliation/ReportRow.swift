internal import AppStoreReports

/// A row of a report with access to its columns by name. The number of an empty or missing column is 0.
struct ReportRow {
  let document: ReportDocument
  let values: [String]
  /// The line of the file; 1 is that of the column names.
  let line: Int

  /// The text in a column; empty if the report does not have it.
  subscript(column: String) -> String { document.table.value(column, in: values) }

  /// The whole number in a column.
  func number(_ column: String) throws(ReportError) -> Int64 {
    let text = self[column]
    if text.isEmpty { return 0 }
    guard let value = Amount.thousandths(text), value % 1000 == 0 else { throw malformed(column) }
    return value / 1000
  }

  /// The amount in a column, in thousandths.
  func amount(_ column: String) throws(ReportError) -> Int64 {
    let text = self[column]
    if text.isEmpty { return 0 }
    guard let value = Amount.thousandths(text) else { throw malformed(column) }
    return value
  }

  /// The day in a column, which must have one.
  func day(_ column: String) throws(ReportError) -> CalendarDay {
    guard let day = CalendarDay(self[column]) else { throw malformed(column) }
    return day
  }

  /// The error of a row whose numbers are too large to be added to those before.
  var sumTooLarge: ReportError { .sumTooLarge(document.name, line: line) }

  private func malformed(_ column: String) -> ReportError {
    .malformed(document.name, line: line, column: column, value: self[column])
  }
}
