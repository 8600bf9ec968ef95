internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func nextReportDue(in domain: ClockDomain) throws(StoreError) -> Instant? {
    let isQueued = try !rows("SELECT 1 FROM report_queue WHERE \(domain.condition) LIMIT 1") { _ in true }
      .isEmpty
    if isQueued { return Instant(millisecondsSince1970: 0) }
    let due = try earliest(in: "report_due", where: domain.condition)
    let closed =
      try rows("SELECT min(day) FROM closed_day WHERE \(domain.condition)") { row -> ReportDay? in
        row.isNull(0) ? nil : ReportDay(number: row.number(0))
      }.first ?? nil
    return [due, closed?.advanced(by: 1).closing].compactMap(\.self).min()
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
    let kinds = selection.kinds.map { String($0.rawValue) }.sorted().joined(separator: ", ")
    let groups = query.groupBy.map { ", \($0.column)" }.joined()
    var condition = selection.condition
    if case .whenClosed(let last) = query.knowledge { condition += " AND known_day <= \(last.number)" }
    var values: [any StatementValue] = [appID, environment]
    for (dimension, allowed) in query.filters.sorted(by: { $0.key.rawValue < $1.key.rawValue })
    where !allowed.isEmpty {
      let parameters = Array(repeating: "?", count: allowed.count).joined(separator: ", ")
      condition += " AND \(dimension.column) IN (\(parameters))"
      for value in allowed.sorted() { values.append(value) }
    }
    let first = CInt(8)
    let keys = 5 + query.groupBy.count
    return try rows(
      """
      SELECT CAST(sum(units) AS BIGINT), CAST(sum(amount) AS BIGINT), CAST(sum(proceeds) AS BIGINT), kind,
        \(selection.day), cohort_day, age, reason, currency\(groups)
      FROM report_cell WHERE app = ? AND environment = ? AND kind IN (\(kinds)) AND \(condition)
      GROUP BY \((4...(4 + keys)).map(String.init).joined(separator: ", "))
      """, binding: values
    ) { row throws(StoreError) in
      ReportSum(
        kind: try PostingRows.kind(row, 3), day: ReportDay(number: row.number(4)),
        groups: (0..<query.groupBy.count).map { row.text(first + 1 + CInt($0)) ?? "" },
        reason: row.text(7) ?? "", currency: row.text(8) ?? "",
        cohortDay: row.number(5) == noCohort ? nil : ReportDay(number: row.number(5)), age: row.number(6),
        sums: ReportCell.Sums(count: row.number(0), amount: row.number(1), proceeds: row.number(2)))
    }
  }

  func reportRevisions(
    from first: ReportDay, to end: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportRevision] {
    let all = try rows(
      """
      SELECT day, known_day, cause, postings FROM report_revision
      WHERE app = ? AND environment = ? AND day >= ? AND day < ? ORDER BY day, known_day, cause
      """, appID, environment, first.number, end.number
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
    return revisions
  }

  func lastClosedDay(of appID: String, in environment: Environment) throws(StoreError) -> ReportDay? {
    try rows("SELECT day FROM closed_day WHERE app = ? AND environment = ?", appID, environment) {
      ReportDay(number: $0.number(0))
    }.first
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
