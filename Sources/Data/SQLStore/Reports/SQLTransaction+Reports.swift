internal import AppStore
internal import Reports
internal import Store

private let ofLine = "line_id = ? AND app = ? AND environment = ?"

// Postings and their sums.
extension SQLTransaction {
  func postings(of line: LineKey) throws(StoreError) -> [Posting] {
    let rows = try rows(
      once: "SELECT \(PostingRows.columns) FROM posting WHERE \(ofLine) ORDER BY position", line,
      decode: PostingRows.stored)
    return rows.flatMap { $0.map(\.posting) }
  }

  func append(_ new: [NewPostings]) throws(StoreError) {
    var cells: [Closing: CellSums] = [:]
    var revised: [Revision: Int64] = [:]
    var position = try lastPosition(before: new.reduce(0) { $0 + $1.postings.count })
    let insert = try statement(once: Self.insertPostings)
    for new in new {
      for postings in new.rows {
        position += Int64(postings.count)
        try self.insert(postings, of: new, through: position, as: insert)
      }
      let closing = Closing(appID: new.appID, environment: new.environment, day: new.knownDay)
      cells[closing, default: CellSums()].add(new.postings)
      for posting in new.postings {
        let day = ReportDay(posting.effectiveAt)
        guard day < new.knownDay else { continue }
        revised[Revision(closing: closing, day: day, cause: new.cause.of(posting)), default: 0] += 1
      }
    }
    for (closing, sums) in cells {
      try add(sums, known: closing.day, of: closing.appID, in: closing.environment)
    }
    for (revision, count) in revised { try add(revision, count) }
  }

  /// The closing that first includes some postings.
  private struct Closing: Hashable {
    let appID: String
    let environment: Environment
    let day: ReportDay
  }

  private struct Revision: Hashable {
    let closing: Closing
    let day: ReportDay
    let cause: RevisionCause
  }

  private func add(_ revision: Revision, _ count: Int64) throws(StoreError) {
    try run(
      once: """
        INSERT INTO report_revision (app, environment, day, known_day, cause, postings) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (app, environment, day, known_day, cause)
        DO UPDATE SET postings = report_revision.postings + excluded.postings
        """, revision.closing.appID, revision.closing.environment, revision.day.number,
      revision.closing.day.number, revision.cause.rawValue, count)
  }

  /// Reserves the next positions, and returns the one before them. They come from a separate row, because a position is
  /// never used again, also after all postings of an app were deleted.
  private func lastPosition(before count: Int) throws(StoreError) -> Int64 {
    guard count > 0 else { return 0 }
    let last = try rows(once: "SELECT last FROM posting_position") { $0.number(0) }.first ?? 0
    try run(once: Self.putPosition, Int64(1), last + Int64(count))
    return last
  }

  private static let putPosition = Upsert.sql("posting_position", key: "id", "id, last")

  /// Inserts a row of postings; `position` is that of the last one.
  private func insert(
    _ postings: [Posting], of new: NewPostings, through position: Int64, as insert: any SQLStatement
  ) throws(StoreError) {
    guard let first = postings.first else { return }
    try insert.bind(LineKey(appID: new.appID, environment: new.environment, lineID: first.line))
    try insert.bind(4, first.effectiveAt.millisecondsSince1970)
    try insert.bind(5, new.knownAt.millisecondsSince1970)
    try insert.bind(6, new.cause.rawValue)
    let summary = PostingSummary(postings)
    try insert.bind(7, summary.kinds)
    try insert.bind(8, summary.dimensions)
    try insert.bind(9, summary.cohorts?.lowerBound.number)
    try insert.bind(10, summary.cohorts?.upperBound.number)
    try insert.bind(11, PostingPack.encode(postings))
    try insert.bind(12, position)
    try insert.run()
  }

  private static let insertPostings = """
    INSERT INTO posting (
      line_id, app, environment, effective_at, known_at, cause, kinds, dimensions, cohort_from, cohort_to, postings,
      position)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """

  func add(
    _ cells: [ReportCell], known: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) {
    var sums = CellSums()
    for cell in cells { sums.add(cell) }
    try add(sums, known: known, of: appID, in: environment)
  }

  private func add(
    _ cells: CellSums, known: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) {
    let putKey = try statement(once: Self.putKey)
    let putCell = try statement(once: Self.putCell)
    for (keyID, key) in cells.keys where !storedReportKeys.contains(keyID) {
      try putKey.bind(1, keyID)
      try PostingRows.bind(key.dimensions, to: putKey, at: 2)
      try putKey.bind(6, key.reason)
      try putKey.bind(7, key.currency)
      try putKey.run()
      // Across a network, all of them are one statement, and the database may lose its last commits.
      if workspace == nil { keepStoredKey(keyID) }
    }
    for (key, sums) in cells.all where sums != ReportCell.Sums() {
      try putCell.bind(1, appID)
      try putCell.bind(2, environment.rawValue)
      try putCell.bind(3, key.kind)
      try putCell.bind(4, key.cohortDay)
      try putCell.bind(5, key.day)
      try putCell.bind(6, max(known.number, key.day))
      try putCell.bind(7, key.keyID)
      try putCell.bind(8, key.age)
      try putCell.bind(9, sums.count)
      try putCell.bind(10, sums.amount)
      try putCell.bind(11, sums.proceeds)
      try putCell.run()
    }
  }

  private func keepStoredKey(_ id: Int64) {
    if storedReportKeys.count >= Self.storedKeyLimit { storedReportKeys.removeAll() }
    storedReportKeys.insert(id)
  }

  private static let storedKeyLimit = 100_000

  /// Sums by numbers: texts are compared once for each cell of a posting.
  private struct CellSums {
    struct Key: Hashable {
      let kind: Int64
      let cohortDay: Int64
      let day: Int64
      let keyID: Int64
      let age: Int64
    }

    private(set) var all: [Key: ReportCell.Sums] = [:]
    /// A cell's key with the texts of each `key_id`.
    private(set) var keys: [Int64: ReportCell.Key] = [:]

    mutating func add(_ postings: [Posting]) {
      for posting in postings {
        for cell in posting.cells { add(cell) }
      }
    }

    mutating func add(_ cell: ReportCell) {
      let keyID = Int64(bitPattern: cell.key.groupFingerprint)
      // By index, because to compare a key with `nil` copies it.
      if keys.index(forKey: keyID) == nil { keys[keyID] = cell.key }
      let key = Key(
        kind: cell.key.kind.rawValue, cohortDay: cell.key.cohortDay?.number ?? noCohort,
        day: cell.key.day.number, keyID: keyID, age: cell.key.age)
      all[key, default: ReportCell.Sums()] += cell.sums
    }
  }

  private static let putKey = """
    INSERT INTO report_key (key_id, product_id, subscription_group, storefront, offer_kind, reason, currency)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key_id) DO NOTHING
    """
  private static let putCell = """
    INSERT INTO report_cell (
      app, environment, kind, cohort_day, day, known_day, key_id, age, units, amount, proceeds)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (app, environment, kind, cohort_day, day, known_day, key_id, age)
    DO UPDATE SET units = report_cell.units + excluded.units, amount = report_cell.amount + excluded.amount,
      proceeds = report_cell.proceeds + excluded.proceeds
    """

  func reportCalendars(in domain: ClockDomain) throws(StoreError) -> [ReportCalendar] {
    try rows(
      once: """
        SELECT app, environment, max(day), max(closed_at) FROM closed_day WHERE \(domain.condition)
        GROUP BY app, environment ORDER BY app, environment
        """
    ) { row throws(StoreError) in
      ReportCalendar(
        appID: row.text(0) ?? "", environment: try row.value(1), closed: ReportDay(number: row.number(2)),
        closedAt: Instant(millisecondsSince1970: row.number(3)))
    }
  }

  func firstDay(
    closedAfter instant: Instant, of appID: String, in environment: Environment
  ) throws(StoreError) -> ReportDay? {
    try rows(
      """
      SELECT day FROM closed_day WHERE app = ? AND environment = ? AND closed_at > ? ORDER BY day LIMIT 1
      """, appID, environment, instant
    ) { ReportDay(number: $0.number(0)) }.first
  }

  func close(
    _ day: ReportDay, at instant: Instant, of appID: String, in environment: Environment
  ) throws(StoreError) {
    try run(
      "INSERT INTO closed_day (app, environment, day, closed_at) VALUES (?, ?, ?, ?)", appID, environment,
      day.number, instant)
  }

  func put(
    _ catalog: ReportCatalog, of appID: String, in environment: Environment
  ) throws(StoreError) {
    try run(
      Upsert.sql("report_catalog", key: "app, environment", "app, environment, fingerprint, since, reviewed"),
      appID, environment, Int64(bitPattern: catalog.fingerprint), catalog.since, catalog.reviewed)
  }

  func resetReports(of appID: String, in environment: Environment) throws(StoreError) {
    for table in [
      "posting", "report_cell", "report_pack", "report_month", "report_revision", "report_break",
      "report_line",
      "report_queue",
    ] {
      try run("DELETE FROM \(table) WHERE app = ? AND environment = ?", appID, environment)
    }
    try run(
      """
      INSERT INTO report_queue (line_id, app, environment, evidence_id)
      SELECT line_id, app, environment, evidence_id FROM line_evidence
      WHERE app = ? AND environment = ? AND line_id IN (
        SELECT line_id FROM transaction_fact WHERE app = ? AND environment = ?
        UNION ALL SELECT ? || app_transaction_id FROM consent_withdrawal WHERE app = ? AND environment = ?)
      """, appID, environment, appID, environment, LineKey.appTransactionPrefix, appID, environment)
  }
}

extension SQLSession {
  func reportCatalog(of appID: String, in environment: Environment) throws(StoreError) -> ReportCatalog? {
    try rows(
      once: "SELECT fingerprint, since, reviewed FROM report_catalog WHERE app = ? AND environment = ?",
      appID,
      environment
    ) { row in
      ReportCatalog(
        fingerprint: UInt64(bitPattern: row.number(0)),
        since: Instant(millisecondsSince1970: row.number(1)), reviewed: row.text(2))
    }.first
  }
}

extension NewPostings {
  /// The postings of each purchase and instant, in the order of their first ones; mostly there is one row.
  fileprivate var rows: [[Posting]] {
    struct Place: Hashable {
      let line: String
      let instant: Instant

      init(_ posting: Posting) { (line, instant) = (posting.line, posting.effectiveAt) }
    }
    guard let first = postings.first else { return [] }
    if postings.allSatisfy({ $0.effectiveAt == first.effectiveAt && $0.line == first.line }) {
      return [postings]
    }
    var rows: [[Posting]] = []
    var indices: [Place: Int] = [:]
    for posting in postings {
      if let index = indices[Place(posting)] {
        rows[index].append(posting)
      } else {
        indices[Place(posting)] = rows.count
        rows.append([posting])
      }
    }
    return rows
  }
}
