internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func nextReportDue(
    in domain: ClockDomain, closingAfter delay: (String) -> Int64
  ) throws(StoreError) -> Instant? {
    for condition in ["report_queue WHERE", "report_catalog WHERE reviewed IS NOT NULL AND"] {
      let found = try rows("SELECT 1 FROM \(condition) \(domain.condition) LIMIT 1") { _ in true }
      if !found.isEmpty { return Instant(millisecondsSince1970: 0) }
    }
    let due = try earliest(in: "report_due", where: domain.condition)
    let closings = try rows(
      "SELECT app, max(day) FROM closed_day WHERE \(domain.condition) GROUP BY app, environment"
    ) { row in
      ReportDay(number: row.number(1) + 1).closing(after: delay(row.text(0) ?? ""))
    }
    return ([due] + closings).compactMap(\.self).min()
  }

  func reportSums(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportSum] {
    let report = query.report
    // Days before the first one count together.
    let early = "CASE WHEN %@ < \(query.from.number) THEN \(query.from.number - 1) ELSE %@ END"
    let stockDay = query.knowledge == .firstClosed ? "known_day" : "day"
    let stocks = CellSelection(
      kinds: report.stockKinds, day: early.replacing("%@", with: stockDay),
      condition: "cohort_day = \(noCohort) AND \(stockDay) < \(query.to.number)")
    let range = "day >= \(query.from.number) AND day < \(query.to.number)"
    let flows = CellSelection(
      kinds: report.flowKinds, day: "day",
      condition: "cohort_day = \(noCohort) AND \(range)"
        + (query.knowledge == .firstClosed ? " AND known_day = day" : ""))
    let first = query.granularity.firstDay(of: query.from)
    let cohorts = CellSelection(
      kinds: report.cohortKinds, day: "CAST(0 AS BIGINT)",
      condition:
        "cohort_day >= \(first.number) AND cohort_day < \(query.to.number) AND day < \(query.to.number)")
    var sums: [ReportSum] = []
    for selection in [stocks, flows, cohorts] { sums += try self.sums(selection, query, appID, environment) }
    return sums
  }

  private func sums(
    _ selection: CellSelection, _ query: ReportQuery, _ appID: String, _ environment: Environment
  ) throws(StoreError) -> [ReportSum] {
    guard !selection.kinds.isEmpty else { return [] }
    let kinds = Self.list(selection.kinds)
    let groups = query.groupBy.map { ", \($0.column)" }.joined()
    var condition = selection.condition
    if case .whenClosed(let last) = query.knowledge { condition += " AND known_day <= \(last.number)" }
    let filter = Self.filter(query)
    condition += filter.condition
    let first = CInt(8)
    let keys = 5 + query.groupBy.count
    return try rows(
      """
      SELECT CAST(sum(units) AS BIGINT), CAST(sum(amount) AS BIGINT), CAST(sum(proceeds) AS BIGINT), kind,
        \(selection.day), cohort_day, age, reason, currency\(groups)
      FROM report_cell WHERE app = ? AND environment = ? AND kind IN (\(kinds)) AND \(condition)
      GROUP BY \((4...(4 + keys)).map(String.init).joined(separator: ", "))
      """, binding: [appID, environment] + filter.values
    ) { row throws(StoreError) in
      ReportSum(
        kind: try PostingRows.kind(row, 3), day: ReportDay(number: row.number(4)),
        groups: (0..<query.groupBy.count).map { row.text(first + 1 + CInt($0)) ?? "" },
        reason: row.text(7) ?? "", currency: row.text(8) ?? "",
        cohortDay: row.number(5) == noCohort ? nil : ReportDay(number: row.number(5)), age: row.number(6),
        sums: ReportCell.Sums(count: row.number(0), amount: row.number(1), proceeds: row.number(2)))
    }
  }

  func reportChanges(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportChange] {
    let report = query.report
    let selections = [
      (report.stockKinds, "day < \(query.to.number) AND known_day > \(query.from.number)"),
      (report.flowKinds, "day >= \(query.from.number) AND day < \(query.to.number)"),
    ]
    var changes: [ReportChange] = []
    for (kinds, days) in selections where !kinds.isEmpty {
      let (condition, values) = Self.filter(query)
      changes += try rows(
        """
        SELECT CAST(sum(units) AS BIGINT), CAST(sum(amount) AS BIGINT), CAST(sum(proceeds) AS BIGINT), kind, day,
          known_day, age, reason, currency
        FROM report_cell
        WHERE app = ? AND environment = ? AND kind IN (\(Self.list(kinds))) AND known_day > day
          AND cohort_day = \(noCohort) AND \(days)\(condition)
        GROUP BY kind, day, known_day, age, reason, currency
        """, binding: [appID, environment] + values
      ) { row throws(StoreError) in
        let day = ReportDay(number: row.number(4))
        return ReportChange(
          day: day, knownDay: ReportDay(number: row.number(5)),
          sum: ReportSum(
            kind: try PostingRows.kind(row, 3), day: day, reason: row.text(7) ?? "",
            currency: row.text(8) ?? "", age: row.number(6),
            sums: ReportCell.Sums(count: row.number(0), amount: row.number(1), proceeds: row.number(2))))
      }
    }
    return changes
  }

  func reportRevisions(
    from first: ReportDay, to end: ReportDay, ofStocks: Bool, knownBy last: ReportDay?, of appID: String,
    in environment: Environment
  ) throws(StoreError) -> [ReportRevision] {
    let all = try rows(
      """
      SELECT day, known_day, cause, postings FROM report_revision
      WHERE app = ? AND environment = ? AND day < ? ORDER BY day, known_day, cause
      """, appID, environment, end.number
    ) { ($0.number(0), $0.number(1), $0.text(2) ?? "", $0.number(3)) }
    var revisions: [ReportRevision] = []
    for (day, known, cause, count) in all {
      let (day, known) = (ReportDay(number: day), ReportDay(number: known))
      if let last = revisions.last, last.day == day, last.knownDay == known {
        let causes = last.causes.merging([cause: count], uniquingKeysWith: +)
        revisions[revisions.count - 1] = ReportRevision(
          day: day, number: last.number, knownDay: known, causes: causes)
      } else {
        let number = revisions.last.flatMap { $0.day == day ? $0.number + 1 : nil } ?? 1
        revisions.append(ReportRevision(day: day, number: number, knownDay: known, causes: [cause: count]))
      }
    }
    return revisions.filter { revision in
      (last.map { revision.knownDay <= $0 } ?? true)
        && (revision.day >= first || (ofStocks && revision.knownDay > first))
    }
  }

  func lastClosedDay(
    of appID: String, in environment: Environment, by instant: Instant
  ) throws(StoreError) -> (day: ReportDay, closedAt: Instant)? {
    try rows(
      """
      SELECT day, closed_at FROM closed_day WHERE app = ? AND environment = ? AND closed_at <= ?
      ORDER BY day DESC LIMIT 1
      """, appID, environment, instant
    ) { (ReportDay(number: $0.number(0)), Instant(millisecondsSince1970: $0.number(1))) }.first
  }

  private static func list(_ kinds: Set<Posting.Kind>) -> String {
    kinds.map { String($0.rawValue) }.sorted().joined(separator: ", ")
  }

  /// The condition of the query's filters, with its values.
  private static func filter(_ query: ReportQuery) -> (condition: String, values: [any StatementValue]) {
    var condition = ""
    var values: [any StatementValue] = []
    for (dimension, allowed) in query.filters.sorted(by: { $0.key.rawValue < $1.key.rawValue })
    where !allowed.isEmpty {
      let parameters = Array(repeating: "?", count: allowed.count).joined(separator: ", ")
      condition += " AND \(dimension.column) IN (\(parameters))"
      for value in allowed.sorted() { values.append(value) }
    }
    return (condition, values)
  }
}

/// Cells that one statement adds up.
private struct CellSelection {
  let kinds: Set<Posting.Kind>
  /// The expression of ``ReportSum/day``.
  let day: String
  let condition: String
}

extension ReportQuery.Dimension {
  fileprivate var column: String {
    switch self {
    case .product: "product_id"
    case .group: "subscription_group"
    case .storefront: "storefront"
    case .offerKind: "offer_kind"
    }
  }
}
