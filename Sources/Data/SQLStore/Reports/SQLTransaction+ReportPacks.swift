internal import AppStore
internal import Reports
internal import Store

// The sums of closed days, which change no more.
extension SQLTransaction {
  func packReports(
    through closed: ReportDay, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> Bool {
    let last = try lastPackedMonth(of: appID, in: environment, before: closed.number + 1)
    var rest = limit
    for kind in Posting.Kind.allCases where rest > 0 {
      // Those of packed months, which only a fault could bring, stay where they are and are counted there.
      let scope = PackScope(
        appID: appID, environment: environment, kind: kind.rawValue, after: last ?? dayBeforeAll,
        through: closed.number)
      rest -= try pack(scope, limit: rest)
    }
    guard rest > 0 else { return true }
    return try packMonth(after: last, through: closed, of: appID, in: environment, limit: limit)
  }

  /// The sums of one kind and some closings.
  private struct PackScope {
    let appID: String
    let environment: Environment
    let kind: Int64
    /// The day before the first closing.
    let after: Int64
    /// The last closing.
    let through: Int64
  }

  /// Moves the first rows to packs, and returns their number.
  private func pack(_ scope: PackScope, limit: Int) throws(StoreError) -> Int {
    let cells = try rows(
      once: """
        SELECT \(StoredCell.columns) FROM report_cell
        WHERE app = ? AND environment = ? AND kind = ? AND known_day > ? AND known_day <= ?
        ORDER BY known_day, cohort_day, day, key_id, age LIMIT ?
        """, scope.appID, scope.environment, scope.kind, scope.after, scope.through, limit
    ) { StoredCell($0) }
    guard let last = cells.last else { return 0 }
    var rest = cells[...]
    while let first = rest.first {
      let ofClosing = rest.prefix { $0.knownDay == first.knownDay }
      rest = rest.dropFirst(ofClosing.count)
      try add(ofClosing, knownDay: first.knownDay, to: scope)
    }
    try run(
      once: """
        DELETE FROM report_cell WHERE app = ? AND environment = ? AND kind = ? AND known_day > ?
          AND (known_day, cohort_day, day, key_id, age) <= (?, ?, ?, ?, ?)
        """, scope.appID, scope.environment, scope.kind, scope.after, last.knownDay, last.cohortDay, last.day,
      last.keyID, last.age)
    return cells.count
  }

  /// Adds sums to the pack of their closing, which may have those of an earlier part.
  private func add(
    _ cells: ArraySlice<StoredCell>, knownDay: Int64, to scope: PackScope
  ) throws(StoreError) {
    let known = try rows(
      once: """
        SELECT cells, late FROM report_pack WHERE app = ? AND environment = ? AND kind = ? AND known_day = ?
        """, scope.appID, scope.environment, scope.kind, knownDay
    ) { (bytes: $0.bytes(0), isLate: $0.number(1) != 0) }.first
    var pack = CellPack(known?.bytes ?? [])
    for cell in cells where !cell.isZero { pack.append(cell) }
    guard !pack.bytes.isEmpty else { return }
    let isLate = known?.isLate ?? false || cells.contains { $0.day < knownDay && !$0.isZero }
    try run(
      once: Self.putPack, scope.appID, scope.environment, scope.kind, knownDay, isLate, pack.bytes)
  }

  private static let putPack = Upsert.sql(
    "report_pack", key: "app, environment, kind, known_day",
    "app, environment, kind, known_day, late, cells")

  /// Adds up the next month, if all its days are closed, kind by kind until some `limit` of sums was read.
  ///
  /// - Returns: whether there may be more.
  private func packMonth(
    after last: Int64?, through closed: ReportDay, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> Bool {
    let day: Int64? = if let last { last + 1 } else { try earliestPack(of: appID, in: environment) }
    guard let day else { return false }
    let first = ReportDay(number: day).firstOfMonth
    let lastDay = first.advanced(byMonths: 1).advanced(by: -1)
    guard lastDay <= closed else { return false }
    let done = Set(
      try rows(
        once: "SELECT kind FROM report_month WHERE app = ? AND environment = ? AND last_day = ?", appID,
        environment, lastDay.number
      ) { $0.number(0) })
    var read = 0
    for kind in Posting.Kind.allCases where !done.contains(kind.rawValue) {
      guard read < limit else { return true }
      var scan = CellScan(appID: appID, environment: environment, kinds: [kind])
      (scan.knownFrom, scan.knownThrough) = (first.number, lastDay.number)
      var month = MonthSums(lastDay: lastDay.number, hasStock: kind.isStock)
      try forEachCell(in: scan) { cell in
        read += 1
        month.add(cell)
      }
      try run(
        once: Self.putMonth, appID, environment, kind.rawValue, lastDay.number, month.pack.bytes)
    }
    try run(once: Self.putMonth, appID, environment, packedMonth, lastDay.number, [UInt8]())
    return true
  }

  private func earliestPack(
    of appID: String, in environment: Environment
  ) throws(StoreError) -> Int64? {
    try rows(
      once: """
        SELECT known_day FROM report_pack WHERE app = ? AND environment = ? ORDER BY known_day LIMIT 1
        """, appID, environment
    ) { $0.number(0) }.first
  }

  private static let putMonth = Upsert.sql(
    "report_month", key: "app, environment, kind, last_day", "app, environment, kind, last_day, cells")
}

/// The sums of one kind that became known in one month, without their days. Only stocks and cohorts are read so.
private struct MonthSums {
  let lastDay: Int64
  let hasStock: Bool
  private var sums: [StoredCell: ReportCell.Sums] = [:]

  init(lastDay: Int64, hasStock: Bool) { (self.lastDay, self.hasStock) = (lastDay, hasStock) }

  mutating func add(_ cell: StoredCell) {
    guard cell.cohortDay == noCohort ? hasStock : cell.age != ReportCell.ratedAge else { return }
    var key = cell
    (key.day, key.knownDay) = (lastDay, lastDay)
    (key.units, key.amount, key.proceeds) = (0, 0, 0)
    sums[key, default: ReportCell.Sums()] += ReportCell.Sums(
      count: cell.units, amount: cell.amount, proceeds: cell.proceeds)
  }

  /// The sums by age and cohort: in a report, those of neighbouring cohorts mostly count together.
  var pack: CellPack {
    var pack = CellPack()
    for (key, sums) in sums.sorted(by: { $0.key.isBefore($1.key) }) where sums != ReportCell.Sums() {
      var cell = key
      (cell.units, cell.amount, cell.proceeds) = (sums.count, sums.amount, sums.proceeds)
      pack.append(cell)
    }
    return pack
  }
}

extension StoredCell {
  fileprivate func isBefore(_ other: Self) -> Bool {
    (age, cohortDay, keyID) < (other.age, other.cohortDay, other.keyID)
  }
}
