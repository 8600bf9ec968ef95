internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func reportSums(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportSum] {
    let groups = try CellGroups(query, groupBy: query.groupBy, in: self)
    var sums: [ReportSum] = []
    for selection in CellSelection.all(of: query) where !selection.kinds.isEmpty {
      let totals = try totals(selection, query, groups, appID, environment)
      sums.reserveCapacity(sums.count + totals.all.count)
      for total in totals.all {
        let (run, group) = (totals.runs[total.run], groups.all[total.group])
        sums.append(
          ReportSum(
            kind: try kind(run.kind), day: ReportDay(number: run.day), groups: group.values,
            reason: group.reason, currency: group.currency,
            cohortDay: run.cohortDay == noCohort ? nil : ReportDay(number: run.cohortDay), age: run.age,
            sums: total.sums, group: total.group))
      }
    }
    return sums
  }

  func reportChanges(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportChange] {
    let groups = try CellGroups(query, groupBy: [], in: self)
    var changes: [ReportChange] = []
    for selection in CellSelection.revisions(of: query) where !selection.kinds.isEmpty {
      let totals = try totals(selection, query, groups, appID, environment)
      for total in totals.all {
        let (run, group) = (totals.runs[total.run], groups.all[total.group])
        changes.append(
          ReportChange(
            day: ReportDay(number: run.day), knownDay: ReportDay(number: run.knownDay),
            sum: ReportSum(
              kind: try kind(run.kind), day: ReportDay(number: run.day), reason: group.reason,
              currency: group.currency, age: run.age, sums: total.sums)))
      }
    }
    return changes
  }

  /// Adds up the cells of a selection.
  private func totals(
    _ selection: CellSelection, _ query: ReportQuery, _ groups: CellGroups, _ appID: String,
    _ environment: Environment
  ) throws(StoreError) -> CellTotals {
    var scan = CellScan(appID: appID, environment: environment, kinds: selection.kinds)
    if let first = selection.knownFrom { scan.knownFrom = first }
    if case .whenClosed(let last) = query.knowledge { scan.knownThrough = last.number }
    scan.monthsBefore = selection.monthsBefore.map { min($0, scan.knownThrough + 1) }
    scan.isOfRevisions = selection.isOfRevisions
    // By kind; a set takes longer for each cell.
    var isMarked = [Bool](repeating: false, count: Int(selection.kinds.map(\.rawValue).reduce(0, max)) + 1)
    for kind in selection.kinds where kind.isMarked { isMarked[Int(kind.rawValue)] = true }
    let mark = Int64(1) << query.granularity.rawValue
    var totals = CellTotals(groupCount: groups.all.count)
    try forEachCell(in: scan) { cell in
      guard selection.selects(cell), let group = groups.index[cell.keyID] else { return }
      var age = cell.age
      if isMarked[Int(cell.kind)] {
        guard age & mark != 0 else { return }
        age = mark
      }
      let run = CellTotals.Run(
        kind: cell.kind, day: selection.day(of: cell), knownDay: selection.isOfRevisions ? cell.knownDay : 0,
        cohortDay: selection.cohortDay(of: cell), age: age)
      totals.add(
        ReportCell.Sums(count: cell.units, amount: cell.amount, proceeds: cell.proceeds), to: run, group)
    }
    return totals
  }

  func add(to durations: inout ProductDurations) throws(StoreError) {
    let keys = try rows("SELECT product_id, reason FROM report_key WHERE reason LIKE 'P%'") {
      ($0.text(0) ?? "", $0.text(1) ?? "")
    }
    for (productID, reason) in keys { durations.add(reason, of: productID) }
  }

  private func kind(_ number: Int64) throws(StoreError) -> Posting.Kind {
    guard let kind = Posting.Kind(rawValue: number) else { throw .corrupt("a cell has an unknown kind") }
    return kind
  }
}

/// The groups of a query, and which keys of cells belong to each.
private struct CellGroups {
  struct Group: Hashable {
    let values: [String]
    let reason: String
    let currency: String
  }

  private(set) var all: [Group] = []
  /// By `key_id`; a key that the query's filters exclude has none.
  private(set) var index: KeyNumbers

  init(
    _ query: ReportQuery, groupBy: [ReportQuery.Dimension], in session: some SQLSession
  ) throws(StoreError) {
    let keys = try session.rows(
      """
      SELECT key_id, product_id, subscription_group, storefront, offer_kind, reason, currency FROM report_key
      ORDER BY key_id
      """
    ) { row in
      (
        id: row.number(0),
        dimensions: Posting.Dimensions(
          productID: row.text(1) ?? "", group: row.text(2) ?? "", storefront: row.text(3) ?? "",
          offerKind: row.text(4) ?? ""), reason: row.text(5) ?? "", currency: row.text(6) ?? ""
      )
    }
    var durations = query.durations
    if groupBy.contains(.duration) {
      for key in keys { durations.add(key.reason, of: key.dimensions.productID) }
    }
    var known: [Group: Int] = [:]
    index = KeyNumbers(capacity: keys.count)
    for key in keys where query.allows(key.dimensions) {
      let group = Group(
        values: groupBy.isEmpty ? [] : query.groups(key.dimensions, key.reason, durations),
        reason: key.reason, currency: key.currency)
      if let number = known[group] {
        index.set(number, of: key.id)
        continue
      }
      known[group] = all.count
      index.set(all.count, of: key.id)
      all.append(group)
    }
  }
}
