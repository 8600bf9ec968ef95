/// Tab-separated text with a header row, the format of App Store Connect's reports.
package struct TabularText: Hashable, Sendable {
  /// The names in the first line.
  package private(set) var columns: [String]
  /// The fields of each further line; a line can have fewer than there are columns.
  package var rows: [[String]]

  package init(columns: [String], rows: [[String]] = []) {
    self.columns = columns
    self.rows = rows
  }

  /// Reads a report. Empty lines are left out; spaces around values are cut off.
  ///
  /// Finance reports end with lines of totals, which have fewer values than the header; they are left out, too.
  package init(parsing text: String) {
    var lines = text.split(whereSeparator: \.isNewline).map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map { $0.trimmed }
    }
    lines.removeAll { $0.allSatisfy(\.isEmpty) }
    columns = lines.first ?? []
    let least = max(2, columns.count / 2)
    rows = lines.dropFirst().filter { $0.count >= least }
  }

  /// The report with one line for each row.
  package var text: String {
    ([columns] + rows).map { $0.joined(separator: "\t") + "\n" }.joined()
  }

  /// Appends a row with the values of the named columns; the others are empty.
  package mutating func append(_ values: [String: String]) {
    rows.append(columns.map { values[$0] ?? "" })
  }

  /// The position of a column, without regard to case: Apple's reports differ in it; `nil` if there is none.
  package func position(of column: String) -> Int? {
    columns.firstIndex(of: column) ?? columns.firstIndex { $0.lowercased() == column.lowercased() }
  }

  /// The value of a row in a column; empty if there is none.
  package func value(_ column: String, in row: [String]) -> String {
    guard let position = position(of: column), position < row.count else { return "" }
    return row[position]
  }
}

extension Substring {
  fileprivate var trimmed: String {
    let start = drop { $0 == " " || $0 == "\u{FEFF}" }
    let count = start.reversed().prefix { $0 == " " || $0 == "\r" }.count
    return String(start.dropLast(count))
  }
}

/// Decimal amounts of reports, in thousandths.
package enum Amount {
  /// Reads `-1234.5`; `nil` for another text. Digits beyond the third decimal are rounded half away from zero.
  package static func thousandths(_ text: String) -> Int64? {
    let isNegative = text.hasPrefix("-")
    let parts = (isNegative ? text.dropFirst() : text[...]).filter { $0 != "," }
      .split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = Int64(parts[0].isEmpty ? "0" : parts[0]), whole >= 0,
      whole < 1_000_000_000_000, !(parts[0].isEmpty && parts.count == 1)
    else { return nil }
    let decimals = parts.count == 2 ? parts[1] : ""
    guard decimals.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    let digits = Int64((decimals + "0000").prefix(4)) ?? 0
    let value = whole * 1000 + (digits + 5) / 10
    return isNegative ? -value : value
  }

  /// The amount with two decimals, rounded half away from zero, as reports have it.
  package static func text(_ thousandths: Int64) -> String {
    let cents = (thousandths.magnitude + 5) / 10
    let rest = cents % 100
    return (thousandths < 0 && cents > 0 ? "-" : "") + "\(cents / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
