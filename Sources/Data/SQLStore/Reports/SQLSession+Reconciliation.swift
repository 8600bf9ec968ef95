internal import AppStore
internal import Reports
internal import Store

// Results of comparisons with Apple's reports.
extension SQLTransaction {
  func append(
    _ result: ReconciledDay, of appID: String, in environment: Environment
  ) throws(StoreError) {
    let next = try rows(
      """
      SELECT coalesce(max(run), 0) + 1 FROM reconciled_day
      WHERE app = ? AND environment = ? AND day = ? AND report = ?
      """, appID, environment, result.day.number, result.report
    ) { $0.number(0) }
    try run(
      """
      INSERT INTO reconciled_day (app, environment, day, report, run, matched, explained, unexplained, unknown_rows, files,
        recorded_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, appID, environment, result.day.number, result.report, next.first ?? 1, result.matched,
      result.explained, result.unexplained, result.unknownRows, result.files.joined(separator: "\n"),
      result.recordedAt)
  }
}

extension SQLReader {
  func reconciledDays(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReconciledDay] {
    try results(
      from: first, to: end, of: appID, in: environment,
      """
      AND NOT EXISTS (
        SELECT 1 FROM reconciled_day AS later
        WHERE later.app = result.app AND later.environment = result.environment AND later.day = result.day
          AND later.report = result.report AND later.run > result.run)
      ORDER BY day, report
      """)
  }

  func reconciliationRuns(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [ReconciledDay] {
    try results(
      from: first, to: end, of: appID, in: environment, "ORDER BY day, report, run DESC LIMIT ?",
      limit)
  }

  /// Returns the results of some days. `rest` follows the conditions, with `values`.
  private func results(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment,
    _ rest: String, _ values: any StatementValue...
  ) throws(StoreError) -> [ReconciledDay] {
    try rows(
      """
      SELECT day, report, run, matched, explained, unexplained, unknown_rows, files, recorded_at
      FROM reconciled_day AS result WHERE app = ? AND environment = ? AND day >= ? AND day < ?
      \(rest)
      """, binding: [appID, environment, first.number, end.number] + values
    ) { row in
      var result = ReconciledDay(
        day: ReportDay(number: row.number(0)), report: row.text(1) ?? "",
        recordedAt: Instant(millisecondsSince1970: row.number(8)))
      result.run = row.number(2)
      (result.matched, result.explained) = (row.number(3), row.number(4))
      (result.unexplained, result.unknownRows) = (row.number(5), row.number(6))
      result.files = (row.text(7) ?? "").split(separator: "\n").map(String.init)
      return result
    }
  }
}
