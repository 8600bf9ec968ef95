internal import AppStore
internal import Reports
internal import Store

// Results of comparisons with Apple's reports.
extension SQLTransaction {
  func put(_ result: ReconciledDay, of appID: String, in environment: Environment) throws(StoreError) {
    try run(
      Upsert.sql(
        "reconciled_day", key: "app, environment, day, report",
        "app, environment, day, report, matched, explained, unexplained, unknown_rows, files, recorded_at"),
      appID, environment, result.day.number, result.report, result.matched, result.explained,
      result.unexplained, result.unknownRows, result.files.joined(separator: "\n"), result.recordedAt)
  }
}

extension SQLReader {
  func reconciledDays(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReconciledDay] {
    try rows(
      """
      SELECT day, report, matched, explained, unexplained, unknown_rows, files, recorded_at FROM reconciled_day
      WHERE app = ? AND environment = ? AND day >= ? AND day < ? ORDER BY day, report
      """, appID, environment, first.number, end.number
    ) { row in
      var result = ReconciledDay(
        day: ReportDay(number: row.number(0)), report: row.text(1) ?? "",
        recordedAt: Instant(millisecondsSince1970: row.number(7)))
      (result.matched, result.explained) = (row.number(2), row.number(3))
      (result.unexplained, result.unknownRows) = (row.number(4), row.number(5))
      result.files = (row.text(6) ?? "").split(separator: "\n").map(String.init)
      return result
    }
  }
}
