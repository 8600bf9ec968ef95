internal import AppStore
internal import Wire

/// A report as a table and a chart of one column. Amounts for a year are shown for a month.
struct ReportText {
  private static let barLength: Int64 = 40

  private let response: QueryReportResponse
  private let chart: Int

  /// `columnOfChart` is a name; the default is `closing` or the first column.
  init(_ response: QueryReportResponse, columnOfChart: String?) {
    self.response = response
    let named = response.columns.firstIndex { $0.name == columnOfChart }
    let closing = response.columns.firstIndex { $0.name == "closing" }
    chart = named ?? closing ?? 0
  }

  /// The table, the chart, and notes about incomplete days, rates and revisions.
  var text: String {
    var lines = Self.aligned([header] + response.rows.map(cells))
    lines += ["", title(response.columns[chart])]
    let longest = response.rows.map { abs($0.values[chart]) }.max() ?? 0
    let labels = Self.aligned(
      response.rows.map { keys($0) + [amount($0.values[chart], response.columns[chart].unit)] })
    lines += zip(labels, response.rows).map { label, row in
      let value = row.values[chart]
      let length = longest > 0 ? Int(abs(value) * Self.barLength / longest) : 0
      return "\(label)  \(String(repeating: value < 0 ? "-" : "#", count: length))".trimmingEnd
    }
    if response.rows.contains(where: \.incomplete) { lines += ["", "* not whole, or not closed"] }
    if response.notes.contains("NO_RATE") {
      lines += ["", "NO_RATE: amounts without a rate are in their own currency"]
    }
    if !response.revisions.isEmpty { lines.append("") }
    lines += response.revisions.map(text)
    return lines.joined(separator: "\n") + "\n"
  }

  /// A revision with its causes and what it changed.
  private func text(_ revision: ReportRevision) -> String {
    let causes = revision.causes.map(\.cause).joined(separator: ", ")
    let changes = revision.differences.flatMap { difference in
      zip(response.columns, difference.values).filter { $0.1 != 0 }.map { column, value in
        let currency = column.unit == .count ? "" : " \(difference.currency)"
        return "; \(column.name) \(value > 0 ? "+" : "")\(amount(value, column.unit))\(currency)"
      }
    }
    return
      "\(Self.day(revision.day)) revision \(revision.number), known on \(Self.day(revision.knownDay)): \(causes)"
      + changes.joined()
  }

  private func title(_ column: ReportColumn) -> String {
    "\(column.name): \(column.definition)" + (column.unit == .moneyPerYear ? " Shown for a month." : "")
  }

  /// The columns with a value in any row.
  private var shown: [Int] {
    response.columns.indices.filter { index in response.rows.contains { $0.values[index] != 0 } }
  }

  private var header: [String] {
    let groups = Array(repeating: "", count: keys(response.rows[0]).count - 1)
    return [""] + groups + shown.map { response.columns[$0].name }
      + (ratio(response.rows[0]) == nil ? [] : ["ratio"])
  }

  private func cells(_ row: ReportRow) -> [String] {
    keys(row) + shown.map { amount(row.values[$0], response.columns[$0].unit) }
      + (ratio(row).map { [$0] } ?? [])
  }

  /// The columns that identify a row.
  private func keys(_ row: ReportRow) -> [String] {
    let hasAges = response.rows.contains { $0.age > 0 }
    let hasCurrency = response.rows.contains { !$0.currency.isEmpty }
    return ["\(Self.day(row.bucket))\(row.incomplete ? "*" : "")"] + row.groups
      + (hasCurrency ? [row.currency] : []) + (hasAges ? [String(row.age)] : [])
  }

  /// The report's ratio: a share in percent, or an average amount. `nil` if the report has none.
  private func ratio(_ row: ReportRow) -> String? {
    guard let numerator = response.columns.firstIndex(where: { $0.role == .numerator }),
      let denominator = response.columns.firstIndex(where: { $0.role == .denominator })
    else { return nil }
    guard row.values[denominator] != 0 else { return "-" }
    let isShare = response.columns[numerator].unit == response.columns[denominator].unit
    let quotient = Double(row.values[numerator]) / Double(row.values[denominator])
    return isShare ? "\(Int64((quotient * 100).rounded())) %" : amount(Int64(quotient.rounded()), .money)
  }

  /// A value in its unit: thousandths as hundredths, and amounts for a year as a twelfth.
  private func amount(_ value: Int64, _ unit: ReportUnit) -> String {
    switch unit {
    case .count, .unspecified, .unrecognized: return String(value)
    case .money, .moneyPerYear:
      let monthly = unit == .moneyPerYear ? Double(value) / 12 : Double(value)
      let hundredths = Int64((monthly / 10).rounded())
      let digits = String(abs(hundredths) % 100)
      return "\(hundredths < 0 ? "-" : "")\(abs(hundredths) / 100).\(digits.count < 2 ? "0" : "")\(digits)"
    }
  }

  private static func day(_ timestamp: GoogleProtobuf.Timestamp?) -> String {
    guard let milliseconds = timestamp?.millisecondsSince1970 else { return "" }
    return String(Instant(millisecondsSince1970: milliseconds).description.prefix(10))
  }

  /// Lines with aligned columns: the first one flush left, the others flush right.
  private static func aligned(_ rows: [[String]]) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let fields = row.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - row[column].count)
        return column == 0 ? row[column] + padding : padding + row[column]
      }
      return fields.joined(separator: "  ").trimmingEnd
    }
  }
}

extension String {
  /// The text without spaces at its end.
  fileprivate var trimmingEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
