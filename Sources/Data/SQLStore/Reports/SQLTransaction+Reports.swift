internal import AppStore
internal import Reports
internal import Store

private let ofLine = "line_id = ? AND app = ? AND environment = ?"

// The queue of purchases whose postings are to be derived.
extension SQLTransaction {
  func enqueueForReports(_ line: LineKey, from evidence: EvidenceID) throws(StoreError) {
    try run(
      Upsert.sql(
        "report_queue", key: "line_id, app, environment", "line_id, app, environment, evidence_id"),
      line, evidence)
  }

  func reportQueue(in domain: ClockDomain, limit: Int) throws(StoreError) -> [QueuedReportLine] {
    try rows(
      """
      SELECT q.line_id, q.app, q.environment, coalesce(e.known_at, e.received_at), e.source
      FROM (SELECT * FROM report_queue WHERE \(domain.condition)) AS q
      JOIN evidence AS e ON e.evidence_id = q.evidence_id
      ORDER BY q.evidence_id, q.line_id LIMIT ?
      """, limit
    ) { row throws(StoreError) in
      QueuedReportLine(
        line: LineKey(appID: row.text(1) ?? "", environment: try row.value(2), lineID: row.text(0) ?? ""),
        knownAt: Instant(millisecondsSince1970: row.number(3)),
        source: Evidence.Source(rawValue: row.text(4) ?? ""))
    }
  }

  func reportsDue(
    by now: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [(line: LineKey, due: Instant)] {
    try rows(
      """
      SELECT line_id, app, environment, due_at FROM report_due
      WHERE due_at <= ? AND \(domain.condition) ORDER BY due_at, line_id LIMIT ?
      """, now, limit
    ) { row throws(StoreError) in
      (
        LineKey(appID: row.text(1) ?? "", environment: try row.value(2), lineID: row.text(0) ?? ""),
        Instant(millisecondsSince1970: row.number(3))
      )
    }
  }

  func completeReports(of lines: [LineKey], due: Instant?) throws(StoreError) {
    for line in lines {
      try run("DELETE FROM report_queue WHERE \(ofLine)", line)
      try run("DELETE FROM report_due WHERE \(ofLine)", line)
    }
    guard let due, let line = lines.first else { return }
    try run("INSERT INTO report_due (line_id, app, environment, due_at) VALUES (?, ?, ?, ?)", line, due)
  }

  func linesOfPayer(of line: LineKey) throws(StoreError) -> [LineKey] {
    let installs = try rows("SELECT app_transaction_id FROM app_install_line WHERE \(ofLine)", line) {
      $0.text(0) ?? ""
    }
    var lines: Set<LineKey> = [line]
    for install in installs {
      lines.formUnion(try self.lines(ofAppInstall: install, of: line.appID, in: line.environment))
    }
    return lines.sorted { $0.lineID < $1.lineID }
  }
}

// Postings and their sums.
extension SQLTransaction {
  func postings(of line: LineKey) throws(StoreError) -> [Posting] {
    try rows("SELECT \(PostingRows.columns) FROM posting WHERE \(ofLine) ORDER BY number", line) {
      row throws(StoreError) in try PostingRows.posting(row, of: line)
    }
  }

  func append(_ new: NewPostings, of lines: [LineKey]) throws(StoreError) {
    guard let first = lines.first, !new.postings.isEmpty else { return }
    let byLine = Dictionary(grouping: new.postings, by: \.line)
    for line in lines {
      guard let postings = byLine[line.lineID] else { continue }
      try insert(postings, new, of: line)
    }
    let known = ReportDay(closingAfter: new.knownAt)
    // The days before the first posting of an app are closed.
    try run(
      "INSERT INTO closed_day (app, environment, day) VALUES (?, ?, ?) ON CONFLICT (app, environment) DO NOTHING",
      first.appID, first.environment, known.number - 1)
    try add(new.postings.flatMap(\.cells), known: known, of: first)
    var revised: [ReportDay: [String: Int64]] = [:]
    for posting in new.postings where ReportDay(posting.effectiveAt) < known {
      revised[ReportDay(posting.effectiveAt), default: [:]][new.cause(of: posting).rawValue, default: 0] += 1
    }
    for (day, causes) in revised {
      for (cause, count) in causes {
        try run(
          """
          INSERT INTO report_revision (app, environment, day, known_day, cause, postings) VALUES (?, ?, ?, ?, ?, ?)
          ON CONFLICT (app, environment, day, known_day, cause)
          DO UPDATE SET postings = report_revision.postings + excluded.postings
          """, first.appID, first.environment, day.number, known.number, cause, count)
      }
    }
  }

  private func insert(_ postings: [Posting], _ new: NewPostings, of line: LineKey) throws(StoreError) {
    let last = try rows("SELECT max(number) FROM posting WHERE \(ofLine)", line) {
      $0.isNull(0) ? -1 : $0.number(0)
    }
    var number = last.first ?? -1
    let parameters = Array(repeating: "?", count: 6 + Int(PostingRows.count)).joined(separator: ", ")
    let insert = try use().prepare(
      """
      INSERT INTO posting (line_id, app, environment, number, known_at, cause, \(PostingRows.columns))
      VALUES (\(parameters))
      """)
    for posting in postings {
      number += 1
      try insert.bind(line)
      try insert.bind(4, number)
      try insert.bind(5, new.knownAt.millisecondsSince1970)
      try insert.bind(6, new.cause(of: posting).rawValue)
      try PostingRows.bind(posting, to: insert, at: 7)
      try insert.run()
    }
  }

  private func add(_ cells: [ReportCell], known: ReportDay, of line: LineKey) throws(StoreError) {
    var sums: [ReportCell.Key: ReportCell.Sums] = [:]
    for cell in cells { sums[cell.key, default: ReportCell.Sums()] += cell.sums }
    let upsert = try use().prepare(
      """
      INSERT INTO report_cell (
        app, environment, kind, cohort_day, day, known_day, product_id, subscription_group, storefront, offer_kind,
        reason, currency, age, units, amount, proceeds)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (
        app, environment, kind, cohort_day, day, known_day, product_id, subscription_group, storefront, offer_kind,
        reason, currency, age)
      DO UPDATE SET units = report_cell.units + excluded.units, amount = report_cell.amount + excluded.amount,
        proceeds = report_cell.proceeds + excluded.proceeds
      """)
    for (key, sums) in sums where sums != ReportCell.Sums() {
      try upsert.bind(1, line.appID)
      try upsert.bind(2, line.environment.rawValue)
      try upsert.bind(3, key.kind.rawValue)
      try upsert.bind(4, key.cohortDay?.number ?? noCohort)
      try upsert.bind(5, key.day.number)
      try upsert.bind(6, max(known, key.day).number)
      try PostingRows.bind(key.dimensions, to: upsert, at: 7)
      try upsert.bind(11, key.reason)
      try upsert.bind(12, key.currency)
      try upsert.bind(13, key.age)
      try upsert.bind(14, sums.count)
      try upsert.bind(15, sums.amount)
      try upsert.bind(16, sums.proceeds)
      try upsert.run()
    }
  }

  func closeDays(by now: Instant, in domain: ClockDomain) throws(StoreError) {
    let last = ReportDay(closingAfter: now).advanced(by: -1)
    try run("UPDATE closed_day SET day = ? WHERE day < ? AND \(domain.condition)", last.number, last.number)
  }
}

extension NewPostings {
  /// The cause of one of the postings.
  fileprivate func cause(of posting: Posting) -> RevisionCause {
    switch posting.kind {
    case .refund, .refundOfPurchase, .refundedOut, .trialRefunded: return .refundLearnedLate
    default: return cause
    }
  }
}
