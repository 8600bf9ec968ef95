internal import AppStore
internal import Reports
internal import Store

// The identity of movements and stocks.
extension SQLTransaction {
  func recordBreaks(
    closing day: ReportDay, of appID: String, in environment: Environment
  ) throws(StoreError) -> Int64 {
    let found = try breaks(from: day.number, through: day.number, of: appID, in: environment)
    for one in found { try record(one, of: appID, in: environment) }
    return found.reduce(0) { $0 + $1.keys }
  }

  func recordAllBreaks(of appID: String, in environment: Environment) throws(StoreError) {
    let closed = Set(
      try rows("SELECT day FROM closed_day WHERE app = ? AND environment = ?", appID, environment) {
        $0.number(0)
      })
    try run("DELETE FROM report_break WHERE app = ? AND environment = ?", appID, environment)
    for one in try breaks(from: dayBeforeAll, through: dayAfterAll, of: appID, in: environment)
    where closed.contains(one.knownDay) { try record(one, of: appID, in: environment) }
  }

  /// A day whose movements in one closing are not the change of what is active.
  private struct Break {
    let day: Int64
    /// The closing.
    let knownDay: Int64
    /// The number of products, storefronts and offers.
    let keys: Int64
  }

  private func record(
    _ one: Break, of appID: String, in environment: Environment
  ) throws(StoreError) {
    try run(
      "INSERT INTO report_break (app, environment, day, known_day, keys) VALUES (?, ?, ?, ?, ?)", appID,
      environment, one.day, one.knownDay, one.keys)
  }

  /// Compares the movements of some closings with the changes of what is active, by day and dimensions.
  private func breaks(
    from first: Int64, through last: Int64, of appID: String, in environment: Environment
  ) throws(StoreError) -> [Break] {
    struct Change: Hashable {
      let day: Int64
      let knownDay: Int64
      let dimensions: Posting.Dimensions
    }
    struct Closing: Hashable {
      let day: Int64
      let knownDay: Int64
    }
    let dimensions = try dimensionsOfKeys()
    let reducing = Set(([.active] + Report.leavingKinds).map(\.rawValue))
    var scan = CellScan(
      appID: appID, environment: environment,
      kinds: Set([.active] + Report.leavingKinds + Report.enteringKinds))
    (scan.knownFrom, scan.knownThrough) = (first, last)
    var sums: [Change: Int64] = [:]
    try forEachCell(in: scan) { cell in
      guard cell.cohortDay == noCohort, let key = dimensions[cell.keyID] else { return }
      let change = Change(day: cell.day, knownDay: cell.knownDay, dimensions: key)
      sums[change, default: 0] += reducing.contains(cell.kind) ? -cell.units : cell.units
    }
    var keys: [Closing: Int64] = [:]
    for (change, sum) in sums where sum != 0 {
      keys[Closing(day: change.day, knownDay: change.knownDay), default: 0] += 1
    }
    return keys.map { Break(day: $0.day, knownDay: $0.knownDay, keys: $1) }
      .sorted { ($0.knownDay, $0.day) < ($1.knownDay, $1.day) }
  }

  private func dimensionsOfKeys() throws(StoreError) -> [Int64: Posting.Dimensions] {
    let keys = try rows(
      once: "SELECT key_id, product_id, subscription_group, storefront, offer_kind FROM report_key"
    ) { row in
      (
        row.number(0),
        Posting.Dimensions(
          productID: row.text(1) ?? "", group: row.text(2) ?? "", storefront: row.text(3) ?? "",
          offerKind: row.text(4) ?? "")
      )
    }
    return Dictionary(keys, uniquingKeysWith: { $1 })
  }
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
