internal import AppStore
internal import Reports
internal import Store

/// The sums that are read together: by kind, and by the closing with which they became known.
struct CellScan {
  let appID: String
  let environment: Environment
  let kinds: Set<Posting.Kind>
  /// The first closing.
  var knownFrom = dayBeforeAll
  /// The last closing.
  var knownThrough = dayAfterAll
  /// The day before which whole months suffice, because the days of the sums do not matter; `nil`: they do. It has effect
  /// on stocks and cohorts only.
  var monthsBefore: Int64?
  /// Whether only the sums of earlier days than their closing are read.
  var isOfRevisions = false
}

/// Days before and after all others. `Int64`'s own limits are no integers in SQL.
let (dayBeforeAll, dayAfterAll): (Int64, Int64) = (-10_000_000, 10_000_000)

extension SQLSession {
  /// Calls `body` with all sums of a scan. A sum of a month has the last day of the month as its day and its closing.
  ///
  /// The sums with the same key are not added up. Mostly they come in the order of kind, closing, cohort and day.
  func forEachCell(
    in scan: CellScan, _ body: (StoredCell) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard !scan.kinds.isEmpty else { return }
    let kinds = scan.kinds.map { String($0.rawValue) }.sorted().joined(separator: ", ")
    let ofKinds = "app = ? AND environment = ? AND kind IN (\(kinds))"
    var first = scan.knownFrom
    if let bound = scan.monthsBefore,
      let last = try lastPackedMonth(of: scan.appID, in: scan.environment, before: bound)
    {
      first = max(first, last + 1)
      try forEachPackedCell(
        """
        SELECT kind, last_day, cells FROM report_month
        WHERE \(ofKinds) AND last_day >= \(scan.knownFrom) AND last_day <= \(last)
        """, scan, body)
    }
    try forEachPackedCell(
      """
      SELECT kind, known_day, cells FROM report_pack WHERE \(ofKinds)
        AND known_day >= \(first) AND known_day <= \(scan.knownThrough)\(scan.isOfRevisions ? " AND late = 1" : "")
      """, scan, body)
    _ = try rows(
      """
      SELECT \(StoredCell.columns) FROM report_cell
      WHERE \(ofKinds) AND known_day >= \(scan.knownFrom) AND known_day <= \(scan.knownThrough)
      """, scan.appID, scan.environment
    ) { row throws(StoreError) in try body(StoredCell(row)) }
  }

  private func forEachPackedCell(
    _ packs: String, _ scan: CellScan, _ body: (StoredCell) throws(StoreError) -> Void
  ) throws(StoreError) {
    _ = try rows(packs, scan.appID, scan.environment) { row throws(StoreError) in
      let (kind, knownDay) = (row.number(0), row.number(1))
      try CellPack.forEachCell(in: row.borrowedBytes(2), of: kind, knownDay: knownDay, body)
    }
  }

  /// Returns the last day of the last month that is packed in all kinds, and ends before a day; `nil` without one.
  func lastPackedMonth(
    of appID: String, in environment: Environment, before day: Int64
  ) throws(StoreError) -> Int64? {
    try rows(
      """
      SELECT last_day FROM report_month WHERE app = ? AND environment = ? AND kind = \(packedMonth) AND last_day < ?
      ORDER BY last_day DESC LIMIT 1
      """, appID, environment, day
    ) { $0.number(0) }.first
  }
}

/// Stands for "all kinds" in `report_month`: the month is complete.
let packedMonth: Int64 = 0
