internal import AppStore
internal import Reports
internal import Store

extension SQLReader {
  func reportSums(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> ReportSums {
    var groups = try CellGroups(query, groupBy: query.groupBy, in: self)
    var totals = CellTotals()
    for selection in CellSelection.all(of: query) where !selection.kinds.isEmpty {
      try add(selection, query, to: &totals, &groups, appID, environment)
    }
    return ReportSums(
      runs: try totals.runs.map { run throws(StoreError) in try run.ofSums }, groups: groups.all,
      totals: totals.all)
  }

  func reportChanges(
    _ query: ReportQuery, of appID: String, in environment: Environment
  ) throws(StoreError) -> [ReportChange] {
    var groups = try CellGroups(query, groupBy: [], in: self)
    var changes: [ReportChange] = []
    for selection in CellSelection.revisions(of: query) where !selection.kinds.isEmpty {
      var totals = CellTotals()
      try add(selection, query, to: &totals, &groups, appID, environment)
      for total in totals.all {
        let run = totals.runs[Int(total.run)]
        changes.append(
          ReportChange(
            day: ReportDay(number: run.day), knownDay: ReportDay(number: run.knownDay),
            sum: ReportSum(run: try run.ofSums, group: groups.all[Int(total.group)], sums: total.sums)))
      }
    }
    return changes
  }

  /// Adds up the cells of a selection.
  private func add(
    _ selection: CellSelection, _ query: ReportQuery, to totals: inout CellTotals, _ groups: inout CellGroups,
    _ appID: String, _ environment: Environment
  ) throws(StoreError) {
    var scan = CellScan(appID: appID, environment: environment, kinds: selection.kinds)
    if let first = selection.knownFrom { scan.knownFrom = first }
    if case .whenClosed(let last) = query.knowledge { scan.knownThrough = last.number }
    scan.monthsBefore = selection.monthsBefore.map { min($0, scan.knownThrough + 1) }
    scan.isOfRevisions = selection.isOfRevisions
    let adder = CellAdder(selection, query)
    // A statement is open while cells are read, so that their keys are read afterwards.
    var unknown: [StoredCell] = []
    try forEachCell(in: scan) { cell in
      if !adder.add(cell, to: &totals, &groups) { unknown.append(cell) }
    }
    if !unknown.isEmpty {
      try groups.readKeys(of: self)
      for cell in unknown {
        guard adder.add(cell, to: &totals, &groups) else { throw .corrupt("a sum has an unknown key") }
      }
    }
  }

  func addObservedDurations(to durations: inout ProductDurations) throws(StoreError) {
    let keys = try rows("SELECT product_id, reason FROM report_key WHERE reason LIKE 'P%'") {
      ($0.text(0) ?? "", $0.text(1) ?? "")
    }
    for (productID, reason) in keys { durations.add(reason, of: productID) }
  }
}

extension CellTotals.Run {
  fileprivate var ofSums: ReportSums.Run {
    get throws(StoreError) {
      guard let kind = Posting.Kind(rawValue: kind) else { throw .corrupt("a cell has an unknown kind") }
      return ReportSums.Run(
        kind: kind, day: ReportDay(number: day),
        cohortDay: cohortDay == noCohort ? nil : ReportDay(number: cohortDay), age: age)
    }
  }
}
