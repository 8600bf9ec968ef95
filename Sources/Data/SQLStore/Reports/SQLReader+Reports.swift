internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func nextReportDue(
    in domain: ClockDomain, closingAfter delay: (String) -> Int64
  ) throws(StoreError) -> Instant? {
    for condition in ["report_queue WHERE", "report_catalog WHERE reviewed IS NOT NULL AND"] {
      let found = try rows(once: "SELECT 1 FROM \(condition) \(domain.condition) LIMIT 1") { _ in true }
      if !found.isEmpty { return Instant(millisecondsSince1970: 0) }
    }
    let due = try earliest(in: "report_line", where: domain.condition)
    let closings = try rows(
      once: "SELECT app, max(day) FROM closed_day WHERE \(domain.condition) GROUP BY app, environment"
    ) { row in
      ReportDay(number: row.number(1) + 1).closing(after: delay(row.text(0) ?? ""))
    }
    return ([due] + closings).compactMap(\.self).min()
  }

  func reportBacklog(
    of appID: String, in environment: Environment, at now: Instant
  ) throws(StoreError) -> ReportBacklog {
    // The key begins with the purchase: the rows are in order, and counting them needs no memory.
    let queued = try rows(
      """
      SELECT (
        SELECT count(*) FROM (SELECT DISTINCT line_id FROM report_queue WHERE app = ?1 AND environment = ?2) AS q
      ), (
        SELECT coalesce(known_at, received_at) FROM evidence
        WHERE evidence_id = (SELECT min(evidence_id) FROM report_queue WHERE app = ?1 AND environment = ?2)
      )
      """, appID, environment
    ) { (purchases: $0.number(0), since: $0.instant(1)) }.first
    let due = try rows(
      """
      SELECT due_at FROM report_line WHERE due_at <= ? AND app = ? AND environment = ?
      ORDER BY due_at LIMIT 1
      """, now, appID, environment
    ) { $0.instant(0) }
    return ReportBacklog(
      purchases: queued?.purchases ?? 0, since: (due + [queued?.since]).compactMap(\.self).min())
  }

  func reportRevisions(
    from first: ReportDay, to end: ReportDay, ofStocks: Bool, knownBy last: ReportDay?, of appID: String,
    in environment: Environment
  ) throws(StoreError) -> [ReportRevision] {
    // Revisions of earlier days change later stocks. All of a day are read, because they are numbered.
    let earliest = ofStocks ? dayBeforeAll : first.number
    let all = try rows(
      """
      SELECT day, known_day, cause, postings FROM report_revision
      WHERE app = ? AND environment = ? AND day >= ? AND day < ? ORDER BY day, known_day, cause
      """, appID, environment, earliest, end.number
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
}
