internal import AppStoreReports

// Faulty lines of reports.
extension Faults {
  /// Returns the report with the active faults; each line is an opportunity.
  mutating func applied(to report: TabularText, _ kind: AppStoreReport) -> TabularText {
    var faulty = TabularText(columns: report.columns)
    for row in report.rows {
      if take(.reportMissing) != nil { continue }
      var row = row
      if take(.reportCount) != nil { Self.raiseCount(of: &row, report, kind) }
      if Self.proceeds(of: row, report) != nil, take(.reportProceeds) != nil {
        Self.raiseProceeds(of: &row, report)
      }
      faulty.rows.append(row)
      if take(.reportDoubled) != nil { faulty.rows.append(row) }
    }
    return faulty
  }

  /// Makes the count of a line larger by one; a count of refunds is negative.
  private static func raiseCount(of row: inout [String], _ report: TabularText, _ kind: AppStoreReport) {
    let columns: [String] =
      switch kind {
      case .subscription: SubscriptionColumn.allCases.map(\.rawValue) + ["Billing Retry"]
      case .subscriptionEvent, .finance: ["Quantity"]
      case .subscriber, .sales: ["Units"]
      }
    let positions = columns.compactMap(report.position)
    guard let position = positions.first(where: { row[$0] != "0" && !row[$0].isEmpty }) ?? positions.first
    else { return }
    let count = Int64(row[position]) ?? 0
    let isRefund = count < 0 || report.value("Customer Price", in: row).hasPrefix("-")
    row[position] = String(count == 0 && isRefund ? -2 : count + (isRefund ? -1 : 1))
  }

  /// The proceeds of a line; `nil` without any.
  private static func proceeds(of row: [String], _ report: TabularText) -> Int64? {
    let proceeds = Amount.thousandths(report.value("Developer Proceeds", in: row))
    return proceeds == 0 ? nil : proceeds
  }

  /// Makes the proceeds of a line larger by a tenth and a half of the currency.
  private static func raiseProceeds(of row: inout [String], _ report: TabularText) {
    guard let position = report.position(of: "Developer Proceeds"), let proceeds = proceeds(of: row, report)
    else { return }
    row[position] = Amount.text(proceeds + proceeds / 10 + (proceeds < 0 ? -500 : 500))
  }
}
