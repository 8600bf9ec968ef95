internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func reportSums(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportSum] {
    var groups = try CellGroups(query, groupBy: query.groupBy, in: self)
    var parts: [CellTotals] = []
    for selection in CellSelection.all(of: query) where !selection.kinds.isEmpty {
      parts.append(try totals(selection, query, &groups, appID, environment))
    }
    // There may be a million sums: room for all at once, because moving them takes longer than making them.
    var sums: [ReportSum] = []
    sums.reserveCapacity(parts.reduce(0) { $0 + $1.all.count })
    for totals in parts {
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
    var groups = try CellGroups(query, groupBy: [], in: self)
    var changes: [ReportChange] = []
    for selection in CellSelection.revisions(of: query) where !selection.kinds.isEmpty {
      let totals = try totals(selection, query, &groups, appID, environment)
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
    _ selection: CellSelection, _ query: ReportQuery, _ groups: inout CellGroups, _ appID: String,
    _ environment: Environment
  ) throws(StoreError) -> CellTotals {
    var scan = CellScan(appID: appID, environment: environment, kinds: selection.kinds)
    if let first = selection.knownFrom { scan.knownFrom = first }
    if case .whenClosed(let last) = query.knowledge { scan.knownThrough = last.number }
    scan.monthsBefore = selection.monthsBefore.map { min($0, scan.knownThrough + 1) }
    scan.isOfRevisions = selection.isOfRevisions
    var adder = CellAdder(selection, query)
    // A statement is open while cells are read, so that their keys are read afterwards.
    var unknown: [StoredCell] = []
    try forEachCell(in: scan) { cell in
      if !adder.add(cell, &groups) { unknown.append(cell) }
    }
    if !unknown.isEmpty {
      try groups.readKeys(of: self)
      for cell in unknown {
        guard adder.add(cell, &groups) else { throw .corrupt("a sum has an unknown key") }
      }
    }
    return adder.totals
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
