internal import AppStore
internal import Reports
internal import Store

// The identity of movements and stocks.
extension SQLTransaction {
  func recordBreaks(
    closing day: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> Int64 {
    var breaks: Int64 = 0
    for condition in ["c.day = ?", "c.known_day > c.day AND c.known_day = ?"] {
      let found = try rows(Self.breaks(condition), appID, environment, day.number, day.number) {
        (day: $0.number(0), keys: $0.number(1))
      }
      for (revised, keys) in found {
        breaks += keys
        try run(
          "INSERT INTO report_break (app, environment, day, known_day, keys) VALUES (?, ?, ?, ?, ?)", appID,
          environment, revised, day.number, keys)
      }
    }
    return breaks
  }

  func recordAllBreaks(of appID: String, in environment: Environment) throws(StoreError) {
    let days = try rows(
      "SELECT day FROM closed_day WHERE app = ? AND environment = ? ORDER BY day", appID, environment
    ) { ReportDay(number: $0.number(0)) }
    try run("DELETE FROM report_break WHERE app = ? AND environment = ?", appID, environment)
    for day in days { _ = try recordBreaks(closing: day, of: appID, in: environment) }
  }

  /// Counts by day the dimensions of the cells of one closing whose movements are not the change of what is active.
  private static func breaks(_ condition: String) -> String {
    let leaving = ([.active] + Report.leavingKinds).sqlList
    let kinds = ([.active] + Report.leavingKinds + Report.enteringKinds).sqlList
    return """
      SELECT day, count(*) FROM (
        SELECT c.day AS day FROM report_cell AS c JOIN report_key AS k ON k.key_id = c.key_id
        WHERE c.app = ? AND c.environment = ? AND c.kind IN (\(kinds)) AND c.cohort_day = \(noCohort)
          AND \(condition) AND c.known_day = ?
        GROUP BY c.day, k.product_id, k.subscription_group, k.storefront, k.offer_kind
        HAVING sum(CASE WHEN c.kind IN (\(leaving)) THEN -c.units ELSE c.units END) <> 0
      ) AS broken GROUP BY day ORDER BY day
      """
  }
}

extension [Posting.Kind] {
  fileprivate var sqlList: String { map { String($0.rawValue) }.joined(separator: ", ") }
}

extension SQLReader {
  func brokenDays(
    from first: ReportDay, to end: ReportDay, knownBy last: ReportDay?, of appID: String,
    in environment: Environment
  ) throws(StoreError) -> [ReportDay] {
    try rows(
      """
      SELECT DISTINCT day FROM report_break
      WHERE app = ? AND environment = ? AND day >= ? AND day < ? AND known_day <= ? ORDER BY day
      """, appID, environment, first.number, end.number, last?.number ?? .max
    ) { ReportDay(number: $0.number(0)) }
  }
}
